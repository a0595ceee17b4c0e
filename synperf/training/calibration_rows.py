"""Which rows of a user's are fitted to: of this GPU, not for tests, and neither impossible nor wild.

A row below the physical bound of its GPU was not measured there, or in another unit; one that is many times off what
the rest of its kernel take was not measured as they were. Either would spoil a fit to few rows, so they are set aside,
and named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import FieldError
from ..estimators import Estimate, analytical, learned
from ..estimators.calibration_file import SetAside
from ..estimators.weights import Weights
from ..hardware import GPU
from ..kernels import KernelFamily, family
from ..measurements import Rows
from ..units import format_time
from .recipe import by_kernel

LEAST_ROWS = 16
MOST_ROWS = 1000  # of a kernel and format: the fit is made in seconds; more are drawn from
WILD = np.log(4.0)  # how far from the middle of its kernel a row may be, and
SPREADS = 6.0  # in standard deviations of the rest, of which a normal one is never
OWN_MIDDLE_ROWS = 5  # of a kernel; fewer are judged beside all rows
_TO_NORMAL = 1.4826  # the standard deviation of a normal distribution over its median absolute deviation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Usable:
    """Rows to fit to, and those that were set aside."""

    rows: Rows
    set_aside: tuple[SetAside, ...]


def usable(rows: Rows, gpu: GPU, weights: Weights | None, seed: int) -> Usable:
    """The rows to fit to; of very many of one kernel, some are drawn by the seed.

    Raises:
        FieldError: too few, of another GPU, or most of them impossible.
    """
    rows = _of(gpu, rows)
    own = rows.take(~rows.is_test & ~rows.biased)
    _require_enough(rows, len(own), 0)
    time_s, floor_s = estimates(own, gpu, weights)
    below = own.time_s < floor_s
    if below.mean() > 0.5:
        raise FieldError(_mostly_below(own, floor_s, below, gpu))
    wild = ~below & _wild(own, time_s, ~below)
    _require_enough(rows, int((~below & ~wild).sum()), int((below | wild).sum()))
    aside = (
        *_named(own, floor_s, below, "below its physical bound, {}"),
        *_named(own, time_s, wild, "far from the rest of its kernel beside its estimate, {}"),
    )
    return Usable(rows=_drawn(own.take(~below & ~wild), seed), set_aside=aside)


def _of(gpu: GPU, rows: Rows) -> Rows:
    """The rows of the GPU; those of others beside them are left out.

    Raises:
        FieldError: there are none; the message names the GPUs whose rows there are.
    """
    own = rows.take(rows.gpu == gpu.key)
    if len(own):
        return own
    others = sorted(set(rows.gpu.astype(str).tolist()))
    right = "--gpu " + others[0] if len(others) == 1 else "--gpu with one of these"
    raise FieldError(f"gpu: the rows are of {', '.join(others)}, not of {gpu.key}; right would be {right}")


def pools(rows: Rows) -> dict[str, np.ndarray]:
    """Where the rows of each kernel and format are, and variant where there are some: `cublas.bf16`."""
    found: dict[str, list[np.ndarray]] = {}
    for (_, _, kernel, part), index in by_kernel(rows):
        found.setdefault(f"{kernel}.{part}", []).append(index)
    return {pool: np.sort(np.concatenate(parts)) for pool, parts in found.items()}


def launches(rows: Rows) -> Iterator[tuple[np.ndarray, KernelFamily, Any]]:
    """(indices, family, call that holds columns) of all that one call can hold, variants apart."""
    for _, index in rows.indices(*rows.labels()):
        part = rows.take(index)
        kind, call = family(part.family[0]), part.call()
        for own, one in learned.by_variant(kind, call) or [(np.arange(len(index)), call)]:
            yield index[own], kind, one


def estimates(rows: Rows, gpu: GPU, weights: Weights | None) -> tuple[np.ndarray, np.ndarray]:
    """(seconds, physical bound) of each row, by the learned estimate where there are weights, else the analytical."""
    time_s, floor_s = np.empty(len(rows)), np.empty(len(rows))
    for index, kind, call in launches(rows):
        found = _estimate(kind, call, gpu, weights)
        time_s[index], floor_s[index] = found.time_s, found.floor_s
    return time_s, floor_s


def _estimate(kind: KernelFamily, call: Any, gpu: GPU, weights: Weights | None) -> Estimate:
    found = learned.known(kind, call, gpu, weights, any_balance=True) if weights else None
    return analytical.estimate(kind, call, gpu) if found is None else found


def is_learned(kind: KernelFamily, call: Any, gpu: GPU, weights: Weights) -> bool:
    """Whether some network answers for calls of one variant."""
    return learned.choose(weights, learned.of_any_balance(learned.wanted(kind, call, gpu))) is not None


def _require_enough(rows: Rows, left: int, set_aside: int) -> None:
    """Checks that there are rows enough to fit to.

    Raises:
        FieldError: too few; the message says what became of the others.
    """
    if left >= LEAST_ROWS:
        return
    biased, for_tests = int(rows.biased.sum()), int((rows.is_test & ~rows.biased).sum())
    if biased and not left:
        others = f", the other {for_tests} for tests" if for_tests else ""
        raise FieldError(
            f"rows: {biased} of {len(rows)} are biased, chosen by a model's error or for being fast or slow{others}, "
            f"so none can be fitted to; right would be {LEAST_ROWS} or more that were chosen by their shape"
        )
    gone = {"biased": biased, "for tests": for_tests, "impossible or wild": set_aside}
    said = " and ".join(f"{count} {why}" for why, count in gone.items() if count)
    raise FieldError(
        f"rows: {left}{f' (and {said})' if said else ''}; right would be {LEAST_ROWS} or more: "
        "`synperf calibrate --plan` lists some"
    )


def _mostly_below(rows: Rows, floor_s: np.ndarray, below: np.ndarray, gpu: GPU) -> str:
    worst = int(np.argmin(rows.time_s / floor_s))
    return (
        f"rows: {below.sum()} of {len(rows)} take less than {gpu.name} can, such as {_call(rows, worst)} in "
        f"{format_time(rows.time_s[worst])} where {format_time(floor_s[worst])} is its bound; right would be the unit "
        "that they were measured in, or their own GPU and format"
    )


def _wild(rows: Rows, time_s: np.ndarray, possible: np.ndarray) -> np.ndarray:
    """(rows,) whether a row is many times off its estimate where the rest of its kernel is not, or the other way."""
    ratio = np.log(rows.time_s / time_s)
    found = np.zeros(len(rows), dtype=bool)
    for index in pools(rows).values():
        rest = index[possible[index]]
        others = ratio[rest] if len(rest) >= OWN_MIDDLE_ROWS else ratio[possible]
        middle = float(np.median(others))
        spread = _TO_NORMAL * float(np.median(np.abs(others - middle)))
        found[index] = np.abs(ratio[index] - middle) > max(WILD, SPREADS * spread)
    return found


def _named(rows: Rows, beside_s: np.ndarray, which: np.ndarray, why: str) -> Iterator[SetAside]:
    """The rows of a mask; `why` has a place for what they are beside."""
    for i in np.flatnonzero(which).tolist():
        said = why.format(format_time(float(beside_s[i])))
        yield SetAside(call=_call(rows, i), time_s=float(rows.time_s[i]), why=said)


def _call(rows: Rows, i: int) -> str:
    """`vllm cublas m=4096 n=4096 k=4096 batch=1 dtype=bf16`."""
    values = {name: column[i] for name, column in rows.fields.items()}
    shown = [f"{name}={v if isinstance(v, str | bool) else f'{v:.0f}'}" for name, v in values.items() if v != ""]
    return " ".join([str(rows.engine[i]), str(rows.kernel[i]), *shown])


def _drawn(rows: Rows, seed: int) -> Rows:
    draw, kept = np.random.default_rng(seed), []
    for index in pools(rows).values():
        many = len(index) > MOST_ROWS
        kept.append(draw.choice(index, MOST_ROWS, replace=False) if many else index)
    return rows.take(np.sort(np.concatenate(kept)))
