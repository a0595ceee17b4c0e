"""What rows of kernels and formats without weights correct: a launch floor, the one constant of the analytical time.

It is the median of 3 or more launches with next to no work, and taken only where it surely lowers the error of rows
that it was not fitted to. A kernel and format of which other calls have weights keeps the floor these were tuned to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from ..estimators.calibration_file import LAUNCH_FLOOR, ZERO_SHOT
from ..hardware import GPU
from ..hardware.launch import floor_key, launch_floor
from ..kernels import family
from ..measurements import Rows
from .calibration_choice import FOLDS, Choice, is_better
from .calibration_hardware import fit_hardware
from .calibration_rows import estimates, pools


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Found:
    """A launch floor or None, why, and the times of the rows, each by what was fitted to others."""

    floor_s: float | None
    why: str
    time_s: np.ndarray


def with_floors(choice: Choice, rows: Rows, gpu: GPU, seed: int) -> Choice:
    """The choice with launch floors, methods and times of the rows that no network answers for."""
    method, why = dict(choice.method), dict(choice.why)
    before_s, time_s = choice.before_s.copy(), choice.time_s.copy()
    every = pools(rows)
    tuned = {_key(rows, every[pool]) for pool in choice.method}
    floors = {key: s for key, s in choice.gpu.calibration.launch_floor_s.items() if key in tuned}
    own = [pool for pool in every if pool not in choice.method]
    for key in sorted({_key(rows, every[pool]) for pool in own}):
        here = [pool for pool in own if _key(rows, every[pool]) == key]
        index = np.sort(np.concatenate([every[pool] for pool in here]))
        part = rows.take(index)
        found = _of_others(part, choice.gpu, gpu) if key in tuned else _fitted(part, key, gpu, seed)
        floors |= {} if found.floor_s is None else {key: found.floor_s}
        before_s[index], time_s[index] = estimates(part, gpu, None)[0], found.time_s
        for pool in here:
            method[pool] = ZERO_SHOT if found.floor_s is None else LAUNCH_FLOOR
            why[pool] = f"no weights, so a launch floor is all that rows can correct; it {found.why}"
    at = _with(choice.gpu, {**gpu.calibration.launch_floor_s, **floors})
    return replace(choice, gpu=at, method=method, why=why, before_s=before_s, time_s=time_s)


def _key(rows: Rows, index: np.ndarray) -> str:
    first = index[0]
    return floor_key(rows.family[first], rows.kernel[first], rows.fields["dtype"][first])


def _fitted(rows: Rows, key: str, gpu: GPU, seed: int) -> _Found:
    """The floor that rows of one kernel and format tell, if they do, judged on rows left out in turn."""
    record, before_s = fit_hardware(rows, gpu), estimates(rows, gpu, None)[0]
    value, told = record.launch_floor_s.get(key), record.provenance[key]
    if value == gpu.calibration.launch_floor_s.get(key):
        return _Found(floor_s=None, why=told, time_s=before_s)
    turn, time_s = np.random.default_rng(seed).permutation(len(rows)) % FOLDS, before_s.copy()
    for out in (turn == i for i in range(FOLDS)):
        fitted = replace(gpu, calibration=fit_hardware(rows.take(~out), gpu))
        time_s[out] = estimates(rows.take(out), fitted, None)[0]
    better, how = is_better(*(np.abs(x / rows.time_s - 1.0) for x in (before_s, time_s)))
    if not better:
        return _Found(floor_s=None, why=f"was kept: {how}", time_s=before_s)
    return _Found(floor_s=value, why=f"is the {told}, {how}", time_s=time_s)


def _of_others(rows: Rows, tuned: GPU, gpu: GPU) -> _Found:
    """The floor that other calls of the kernel and format were tuned to, where it moved."""
    call = (rows.family[0], rows.kernel[0], rows.fields["dtype"][0])
    was, now = (launch_floor(one, *call, family(call[0]).launches_like)[0] for one in (gpu, tuned))
    time_s = estimates(rows, tuned, None)[0]
    return _Found(floor_s=None if was == now else now, why="is that of the kernel's other calls", time_s=time_s)


def _with(gpu: GPU, floors: dict[str, float]) -> GPU:
    return replace(gpu, calibration=replace(gpu.calibration, launch_floor_s=MappingProxyType(floors)))
