"""Which calls are timed: of every family some, spread over all fields and from short to long, that fit the minutes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf

import msgspec
import numpy as np
import torch

from ..errors import FieldError, UnsupportedError
from .device import Device
from .families import family
from .rates import Rates, rates
from .request import Request
from .source import Source
from .timed import Fields, Timed, Value
from .timing import SETS, expected_s

MOST_SHARE = 0.1  # of a family's time, for one call: few long ones tell little of a family
_TRIES = 16  # calls of a family in a format, before it is taken that the device lacks it
_META = torch.device("meta")


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One call, about how long it takes, and how long its timing in all states of L2."""

    family: str
    fields: Mapping[str, Value]
    call_s: float
    timing_s: float


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The calls in the order in which they are timed; `skipped` counts those left out, by reason."""

    request: Request
    device: str  # its name
    cases: list[Case]
    skipped: Mapping[str, int]

    def units(self) -> list[tuple[Case, str]]:
        """(call, state of L2), each of which becomes a row; their places are their numbers."""
        return [(case, state) for case in self.cases for state in self.request.l2]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Found:
    """The cases of a family that can be timed, and why others cannot."""

    cases: list[Case]
    skipped: Counter[str]


def make_plan(request: Request, device: Device) -> Plan:
    """The plan of a request, by a first timing of the device.

    Raises:
        FieldError: no call can be timed.
    """
    at, skipped, chosen = rates(device, request.dtypes), Counter[str](), list[Case]()
    found = {name: _possible(name, request, device, at) for name in request.families}
    left_s = 60.0 * request.minutes
    short_first = sorted(found, key=lambda name: sum(case.timing_s for case in found[name].cases))
    for number, name in enumerate(short_first):
        own = _chosen(found[name].cases, left_s / (len(found) - number), request.seed)
        skipped.update(found[name].skipped)
        skipped.update({f"{name}: do not fit the minutes": len(found[name].cases) - len(own)})
        left_s -= sum(case.timing_s for case in own)
        chosen += own
    left_out = dict(+skipped)  # without reasons that there were none of
    if not chosen:
        why = "; ".join(f"{reason}: {count}" for reason, count in left_out.items())
        raise FieldError(f"family: no call can be timed ({why}); right would be more minutes, or other values")
    chosen.sort(key=lambda case: case.call_s)
    return Plan(request=request, device=device.name, cases=chosen, skipped=left_out)


def _possible(name: str, request: Request, device: Device, at: Rates) -> _Found:
    """The cases of one family that fit the memory, in formats that the device has."""
    timed, cases, skipped = family(name), list[Case](), Counter[str]()
    given = {field: tuple(values) for field, values in request.families[name].items()}
    for dtype in request.dtypes:
        if dtype not in timed.formats:
            skipped[f"{name}: torch has no {dtype} of it here"] += len(timed.cases(given, dtype))
            continue
        every = [(fields, _bytes(timed, fields)) for fields in timed.cases(given, dtype)]
        most = (device.free_bytes - 2 * device.cache_bytes) / SETS
        fit = [_case(timed, fields, size, request, device, at) for fields, size in every if size <= most]
        skipped[f"{name}: do not fit the memory"] += len(every) - len(fit)
        short = sorted((case for case in fit if case.timing_s <= 60.0 * request.minutes), key=lambda case: case.call_s)
        if why := _refusal(timed, short, device):
            skipped[why] += len(fit)
        else:
            cases += fit
    return _Found(cases=cases, skipped=skipped)


def _refusal(timed: Timed, ascending: list[Case], device: Device) -> str:
    """Why the device cannot run a family in a format, found by trying some of the shorter calls; empty where it can."""
    shorter, why = ascending[: len(ascending) // 2 + 1], ""
    for case in shorter[:: len(shorter) // _TRIES + 1]:
        try:
            timed.make(case.fields, Source(device.torch)).run()
            return ""
        except (RuntimeError, UnsupportedError) as error:
            why = f"{timed.name}: {device.name} lacks {case.fields['dtype']} ({first_line(error)})"
    return why


def first_line(error: BaseException) -> str:
    """What torch says, in short."""
    return str(error).strip().partition("\n")[0][:120]


def _bytes(timed: Timed, fields: Fields) -> float:
    """What the tensors of a call hold; infinite where they are larger than torch can count."""
    source = Source(_META)
    try:
        timed.make(fields, source)
    except RuntimeError:
        return inf
    return source.bytes


def _case(timed: Timed, fields: Fields, num_bytes: float, request: Request, device: Device, at: Rates) -> Case:
    call_s, flush_s = at.call_time_s(timed, fields, num_bytes), 2 * device.cache_bytes / at.bytes_per_s
    kind = device.torch.type
    timing_s = sum(
        SETS * num_bytes / at.fill_bytes_per_s + at.sensors_s + expected_s(call_s, flush_s, state, kind)
        for state in request.l2
    )
    return Case(family=timed.name, fields=fields, call_s=call_s, timing_s=timing_s)


def _chosen(cases: list[Case], budget_s: float, seed: int) -> list[Case]:
    """Cases that together take no longer: all, or one after the other that whose values were taken least so far."""
    if not cases:
        return []
    cost_s = np.array([case.timing_s for case in cases])
    if cost_s.sum() <= budget_s:
        return cases
    open_ = cost_s <= MOST_SHARE * budget_s
    spread, tie = _Spread(cases), np.random.default_rng(seed).random(len(cases))
    found = []
    while (open_ & (cost_s <= budget_s)).any():
        pick = int(np.where(open_ & (cost_s <= budget_s), spread.taken() + tie, np.inf).argmin())
        spread.take(pick)
        open_[pick], budget_s = False, budget_s - cost_s[pick]
        found.append(cases[pick])
    return found


class _Spread:
    """How often the values of each case were taken, of every field, and of the doublings of time."""

    def __init__(self, cases: list[Case]) -> None:
        self._codes = [np.unique(column, return_inverse=True)[1] for column in _columns(cases)]
        self._counts = [np.zeros(codes.max() + 1) for codes in self._codes]

    def taken(self) -> np.ndarray:
        """(cases,) the sum over the fields, each in turns of all its values."""
        total = np.zeros(len(self._codes[0]))
        for codes, counts in zip(self._codes, self._counts, strict=True):
            total += counts[codes] * len(counts)
        return total

    def take(self, pick: int) -> None:
        """Counts the values of one case."""
        for codes, counts in zip(self._codes, self._counts, strict=True):
            counts[codes[pick]] += 1


def _columns(cases: list[Case]) -> Iterator[np.ndarray]:
    yield np.floor(np.log2([case.call_s for case in cases]))
    for name in cases[0].fields:
        yield np.array([str(case.fields[name]) for case in cases])
