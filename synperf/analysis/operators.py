"""Operators of the framework: how often, how long on the host and on the device, what they compute and move.

A kernel belongs to the innermost operator in which the host launched it. Own times are without what is called, totals
with it; of an operator that calls itself only the outer one counts. Work is by operator_formulas.py, of one run.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..light_classes import dataclass
from ..traces.events import GPU_WORK, Column, Kind, all_aligned
from ..units import counted, format_percent
from .finding import Finding, told
from .gpu_of import Known
from .launched import launches
from .nested import Nested
from .operator_formulas import Work, needing_values, work
from .own_time import own_of
from .roof import Roof, Roofs

_Said = tuple[str, str, str, str]  # name, shapes, types and values of the arguments
_Sums = tuple[int, int, int, int, int, int, int]  # fields of `Operator` from `count` on
_LARGEST = 2**62  # number of a group
_FAR = 0.6  # of its roofline: a product below it is worth a look
_WORTH = 0.02  # share of the GPU time that a finding must be able to return


class Operator(NamedTuple):  # there are thousands, which are filled in a third of the time of other classes
    """All runs of one operator with the same shapes on one rank.

    `shapes` and `formats` are those of the arguments as recorded, empty where they are not. GPU times are sums of
    durations. `timed` runs have GPU work in the file, and rates are over them alone. `flop` and `bytes` are of one run,
    None without a formula; `is_within` says that one above it has a formula too, so that its work is counted there.
    `roofline_ns` is the least time of one run on the GPU, and `efficiency` that over the mean GPU time of one: above 1
    where operands came out of L2.
    """

    rank: int | None
    name: str
    shapes: str
    formats: str
    count: int  # type: ignore[assignment]  # nobody counts values in one
    timed: int
    host_own_ns: int
    host_total_ns: int
    kernels: int
    gpu_own_ns: int
    gpu_total_ns: int
    form: str = ""
    dtype: str = ""
    gemm: tuple[int, int, int, int] | None = None
    flop: int | None = None
    bytes: int | None = None
    flop_per_byte: float | None = None
    flop_per_s: float | None = None
    bytes_per_s: float | None = None
    math: str = ""
    bound: str = ""
    roofline_ns: float | None = None
    efficiency: float | None = None
    is_within: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operators:
    """Of one rank, the one that takes most of the GPU first. `untied_ns` is GPU time that no operator launched."""

    rank: int | None
    operators: tuple[Operator, ...]
    gpu_ns: int
    untied_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Launched:
    """Of each nested range, the GPU time and the GPU events that it launched itself; the rest no operator did."""

    gpu_ns: Column
    gpu_total_ns: Column  # with all below it
    kernels: Column
    untied_ns: int


def operators(rank: int | None, found: Nested, by: Launched, known: Known | None) -> Operators | None:
    """The operators of a rank, with the roofline of its GPU where it is known; None where no operator is recorded."""
    place = np.flatnonzero(found.events.kind[found.rows] == Kind.OPERATOR)
    if not len(place):
        return None
    said, order, first = _groups(_Recorded(found), place)
    roofs = Roofs(known.gpu) if known and known.gpu else None
    done = [work(*one) for one in said]
    has_work = np.zeros(len(found.rows), dtype=bool)
    has_work[place[order]] = np.repeat([one is not None for one in done], np.diff(first, append=len(order)))
    is_within = found.below(has_work)[place[order[first]]].tolist()
    sums = _sums(found, by, place[order], first)
    texts = _Texts()
    made = [_measured(rank, texts, *one, roofs) for one in zip(said, sums, done, is_within, strict=True)]
    made.sort(key=lambda one: (-one.gpu_total_ns, -one.host_total_ns, one.name, one.shapes))
    whole = int(by.gpu_ns.sum()) + by.untied_ns
    return Operators(rank=rank, operators=tuple(made), gpu_ns=whole, untied_ns=by.untied_ns)


def launched(found: Nested) -> Launched:
    """What each operator launched itself."""
    events = found.events
    rows = events.of(*GPU_WORK)
    call = launches(events, rows)
    at = found.operator(np.where(call >= 0, found.place[call], -1))
    time, number = (np.zeros(len(found.rows), dtype=np.int64) for _ in range(2))
    tied = at >= 0
    np.add.at(time, at[tied], events.dur_ns[rows[tied]])
    np.add.at(number, at[tied], 1)
    untied_ns = int(events.dur_ns[rows[~tied]].sum())
    return Launched(gpu_ns=time, gpu_total_ns=found.summed(time), kernels=number, untied_ns=untied_ns)


def _sums(found: Nested, by: Launched, place: Column, first: Column) -> list[_Sums]:
    """Counts and sums of groups: operators at these places, of which each group begins at one of `first`."""
    events = found.events
    outer = ~found.inside(events.kind[found.rows] == Kind.OPERATOR, events.name[found.rows])[place]
    gpu_total = np.where(outer, by.gpu_total_ns[place], 0)

    def summed(column: Column) -> list[int]:
        sums: list[int] = np.add.reduceat(column, first).tolist()
        return sums

    columns = (
        np.diff(first, append=len(place)).tolist(),
        summed((gpu_total > 0).astype(np.int64)),
        summed(own_of(found)[place]),
        summed(np.where(outer, events.dur_ns[found.rows[place]], 0)),
        summed(by.kernels[place]),
        summed(by.gpu_ns[place]),
        summed(gpu_total),
    )
    return list(zip(*columns, strict=True))


class _Recorded:
    """Of each range: its name, and the shapes, types and values of its arguments, as ids of texts and as texts."""

    def __init__(self, found: Nested) -> None:
        events = found.events
        self.texts = (*events.names, "")  # of -1, which is what is not recorded
        arguments = all_aligned(events.arguments, ("dims", "types", "values"), found.rows)
        self.ids = [column.astype(np.int32) for column in (events.name[found.rows], *arguments)]

    def of(self, places: Column) -> list[_Said]:
        """Name, shapes, types and values of each of these; what is not recorded is empty."""
        columns = [[self.texts[text] for text in ids[places].tolist()] for ids in self.ids]
        return list(zip(*columns, strict=True))


def _groups(recorded: _Recorded, place: Column) -> tuple[list[_Said], Column, Column]:
    """An order in which operators of one name, shapes and formats are side by side, and where each group begins.

    They are of one stride and mask too, where the formula asks. What each group is said to be comes first.
    """
    asking = needing_values()
    asks = np.array([name in asking for name in recorded.texts], dtype=bool)
    name, *_, values = recorded.ids
    most = len(recorded.texts)
    of, size = np.zeros(len(place), dtype=np.int64), 1
    for ids in recorded.ids:
        key = np.where(asks[name[place]], values[place], -1) if ids is values else ids[place]
        if size * most > _LARGEST:  # in the place of such numbers, which they are among the different ones
            _, of = np.unique(of, return_inverse=True)
            size = len(of)
        of, size = of * most + key + 1, size * most
    order = np.argsort(of, kind="stable")
    first = np.flatnonzero(np.diff(of[order], prepend=-1))
    return recorded.of(place[order[first]]), order, first


class _Texts(dict[str, tuple[str, str]]):
    """A recorded text without blanks, and with single ones; each is asked for by many operators."""

    def __missing__(self, text: str) -> tuple[str, str]:
        words = text.split()
        self[text] = found = "".join(words), " ".join(words)
        return found


def _measured(
    rank: int | None, texts: _Texts, said: _Said, sums: _Sums, work: Work | None, is_within: bool, roofs: Roofs | None
) -> Operator:
    name, dims, types, _ = said
    shapes, formats = texts[dims][0], texts[types][1]
    if work is None:
        return Operator(rank, name, shapes, formats, *sums)
    _, timed, *_, gpu_total_ns = sums
    least = roofs.of(work) if roofs is not None else None
    return Operator(rank, name, shapes, formats, *sums, *_worked(work, timed, gpu_total_ns * 1e-9, is_within, least))


def _worked(known: Work, timed: int, time_s: float, is_within: bool, least: Roof | None) -> tuple[Any, ...]:
    """The fields from `form` on: what one run computes and moves, the rates of the timed ones, and the roofline."""
    return (
        known.form,
        known.dtype,
        known.gemm,
        known.flop,
        known.bytes,
        known.flop / known.bytes if known.bytes else None,
        known.flop * timed / time_s if time_s else None,
        known.bytes * timed / time_s if time_s else None,
        least.math if least else "",
        least.bound if least else "",
        least.time_s * 1e9 if least else None,
        least.time_s * timed / time_s if least and time_s else None,
        is_within,
    )


def findings(found: Operators) -> list[Finding]:
    """Matrix products far below their roofline, as one finding."""
    far = [one for one in found.operators if one.form in ("gemm", "conv") and one.gpu_own_ns and _lost(one) > 0]
    saving = sum(map(_lost, far))
    if saving <= _WORTH * found.gpu_ns:
        return []
    most = max(far, key=_lost)
    return [
        Finding(
            title="Matrix products are far below what the GPU can do",
            evidence=f"{counted(len(far), 'operator')} take {told(sum(one.gpu_total_ns for one in far))}, less than"
            f" {format_percent(_FAR)} of the roofline; most is lost in {most.name} {most.shapes}, at"
            f" {format_percent(most.efficiency or 0)} of it",
            advice="Look at these shapes: small m (batch), extents that are no multiple of 8, formats wider than"
            " needed; `synperf explain gemm` says what limits one.",
            saving_ns=saving,
            rank=found.rank,
        )
    ]


def _lost(one: Operator) -> int:
    """What an operator takes beyond its roofline, where it is far from it."""
    if one.efficiency is None or one.efficiency >= _FAR or one.roofline_ns is None:
        return 0
    return int(one.gpu_total_ns - one.roofline_ns * one.timed)
