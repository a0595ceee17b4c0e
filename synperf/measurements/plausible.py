"""Whether times can be what their unit says: a typical row is neither faster than physics nor absurdly slow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import FileFormatError
from ..features import floor
from ..hardware import GPU
from ..kernels import family
from ..units import format_time
from .schema import Rows

UNITS_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
LEAST_S = 0.5e-6  # no launch is shorter
# A slip is by 1000 or more. A naive kernel may reach a half percent of the peak, an eager launch take 300 us.
MOST_FLOORS = 200.0
MOST_LAUNCH_S = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bounded:
    """Rows of one GPU, each with its physical bound in seconds."""

    rows: Rows
    floor_s: np.ndarray

    def over_least(self) -> np.ndarray:
        """Time over the least that it can be: below 1 is faster than physics."""
        ratio: np.ndarray = self.rows.time_s / np.maximum(self.floor_s, LEAST_S)
        return ratio

    def over_most(self) -> np.ndarray:
        """Time over the most that it may be: above 1 is absurd."""
        ratio: np.ndarray = self.rows.time_s / (MOST_FLOORS * self.floor_s + MOST_LAUNCH_S)
        return ratio

    def fits(self, scale: float) -> bool:
        """Whether the typical row lies between the two, its time taken `scale` times."""
        return bool(np.median(self.over_least()) * scale >= 1 and np.median(self.over_most()) * scale <= 1)


def check(rows: Rows, devices: Mapping[str, GPU], place: str, unit: str) -> None:
    """Checks the typical row of every GPU: that with the median of time over bound.

    `place` is the file and the column of the times, `unit` what that column is taken to be in.

    Raises:
        FileFormatError: it is too fast or too slow; the message says which unit would make sense.
    """
    for (key,), part in rows.groups("gpu"):
        bounded = _bounded(part, devices[key])
        if not bounded.fits(1.0):
            raise FileFormatError(f"{place}: {_slip(bounded, key)}; {_advice(bounded, unit)}")


def _bounded(part: Rows, gpu: GPU) -> _Bounded:
    groups = [group for _, group in part.groups(*part.labels())]
    return _Bounded(rows=Rows.join(groups), floor_s=np.concatenate([_floor_s(group, gpu) for group in groups]))


def _floor_s(group: Rows, gpu: GPU) -> np.ndarray:
    call, kind = group.call(), family(group.family[0])
    flop, moved = kind.bound_flop(call), kind.compulsory_bytes(call)
    floor_s: np.ndarray = floor(gpu, kind.math(call), flop, moved, kind.l2_saves)
    return floor_s


def _slip(bounded: _Bounded, gpu: str) -> str:
    """What is wrong, shown by the row in the middle."""
    ratio = bounded.over_least()
    row = int(np.argsort(ratio, kind="stable")[len(ratio) // 2])
    what = " ".join(f"{name}={column[row]}" for name, column in bounded.rows.fields.items())
    time = format_time(float(bounded.rows.time_s[row]))
    bound = format_time(max(float(bounded.floor_s[row]), LEAST_S))
    if np.median(ratio) < 1:
        return f"a typical row, {what}, would take {time}, but {gpu} needs {bound} at the least"
    return f"a typical row, {what}, would take {time}, though {gpu} needs no more than {bound} at its peak"


def _advice(bounded: _Bounded, unit: str) -> str:
    units = [other for other, size in UNITS_S.items() if other != unit and bounded.fits(size / UNITS_S[unit])]
    if not units:
        return "no unit makes sense of these times, so the GPU or the dtype is another"
    return f"taken as {unit}, right would be {' or '.join(units)}; name the column so"
