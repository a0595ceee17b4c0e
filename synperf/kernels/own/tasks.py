"""What `decompose` of a file gives, checked: the work of one task and how many there are, or a list of such groups.

A group is a dict. `count` tasks do the same work: `tensor_flop`, `fma_flop`, `xu_op`, `load_bytes` (out of L2),
`store_bytes` (into L2), `shared_bytes` (through shared memory), of which those that are left out are 0.
`threads_per_cta`, `registers_per_thread` and `shared_bytes_per_cta` tell how many tasks an SM holds at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import UnknownNameError
from ...hardware import GPU, DType
from ...hardware.rates import rates
from ...numeric import Number
from ...scheduling import hardware, software
from .source import shown

COUNT = "count"
WORK = ("tensor_flop", "fma_flop", "xu_op", "load_bytes", "store_bytes", "shared_bytes")
CTA: Mapping[str, int] = {"threads_per_cta": 256, "registers_per_thread": 32, "shared_bytes_per_cta": 0}
_KNOWN, _WHOLE = (COUNT, *WORK, *CTA), (COUNT, *CTA)
BUSIEST = "sm_max_tasks"  # of the busiest SM, in mean tasks; only where groups differ
MOST = 1e30  # of any number: products of two are finite
MOST_PLACED = 10_000  # tasks that are placed one by one; more are taken as spread evenly
Columns = dict[str, Number]


class WrongTasksError(Exception):
    """What a function gave is no work; the message says why, without the file and the line."""


def one_call(given: Any, policy: str, gpu: GPU, dtype: DType) -> Columns:
    """The work of the mean task of one call, the number of tasks, and the busiest SM's where tasks are unequal.

    Raises:
        WrongTasksError: it is not what it should be.
    """
    if isinstance(given, list | tuple) and given:
        groups = [checked(group, None) for group in given]
        return groups[0] if len(groups) == 1 else _mean(groups, policy, gpu, dtype)
    return checked(given, None)


def checked(given: Any, size: int | None) -> Columns:
    """One group, every column of it: numbers for one call, for `size` calls also columns of that length.

    Raises:
        WrongTasksError: it is not what it should be.
    """
    if not isinstance(given, Mapping):
        right = "right would be a dict such as {'count': 132, 'fma_flop': 1e6, 'load_bytes': 8192, 'store_bytes': 8192}"
        raise WrongTasksError(f"decompose gives {shown(given)}; {right}")
    for name in given:
        if name not in _KNOWN:
            raise WrongTasksError(f"decompose: {UnknownNameError.among('column', str(name), _KNOWN)}")
    if COUNT not in given:
        raise WrongTasksError("decompose gives no count, which is the number of tasks")
    found: Columns = {name: number(name, given[name], size, 0.0) if name in given else 0.0 for name in WORK}
    found[COUNT] = number(COUNT, given[COUNT], size, 1.0)
    found |= {name: number(name, given[name], None, 0.0) for name in CTA if name in given}
    _require_work(found)
    return found


def _require_work(found: Columns) -> None:
    """Checks that tasks are whole and move bytes: a kernel without any has no result."""
    for name in _WHOLE:
        if name in found and not all_of(found[name] % 1 == 0):
            raise WrongTasksError(f"decompose: {name} must be a whole number, got {shown(found[name])}")
    if not all_of(found["load_bytes"] + found["store_bytes"] > 0):
        raise WrongTasksError("decompose: tasks that neither load nor store; right would be load_bytes or store_bytes")


def number(name: str, value: Any, size: int | None, least: float) -> Number:
    """A float from `least` to `MOST`, or a column of `size` of them.

    Raises:
        WrongTasksError: it is something else.
    """
    if isinstance(value, np.ndarray):
        return _column(name, value, size, least)
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not least <= value <= MOST:
        raise WrongTasksError(f"{_place(name)} must be a number from {least:g} to {MOST:g}, got {shown(value)}")
    return float(value)


def _column(name: str, value: np.ndarray, size: int | None, least: float) -> np.ndarray:
    wanted = "one number" if size is None else f"one number, or {size} of them"
    if size is None or value.shape != (size,) or value.dtype.kind not in "iuf":
        raise WrongTasksError(f"{_place(name)} must be {wanted}, got an array of {value.dtype} of shape {value.shape}")
    column = value.astype(np.float64)
    good = (column >= least) & (column <= MOST)
    if not good.all():
        at = int(np.argmin(good))
        raise WrongTasksError(
            f"{_place(name)} must be a number from {least:g} to {MOST:g}, got {column[at]:g} at index {at}"
        )
    return column


def _place(name: str) -> str:
    """A column of the tasks by its name; what other functions give is called like them."""
    return f"decompose: {name}" if name in _KNOWN else name


def all_of(condition: Any) -> bool:
    """Whether a condition holds, of one call or of all."""
    return bool(condition.all()) if isinstance(condition, np.ndarray) else bool(condition)


def _mean(groups: list[Columns], policy: str, gpu: GPU, dtype: DType) -> Columns:
    """The mean task of groups that differ, and what the busiest SM has under a policy, in mean tasks."""
    count = sum(group[COUNT] for group in groups)
    found = {name: sum(group[COUNT] * group[name] for group in groups) / count for name in WORK}
    found |= {
        name: max(group[name] for group in groups if name in group)
        for name in CTA
        if any(name in group for group in groups)
    }
    costs = [(int(group[COUNT]), _cost_s(group, gpu, dtype)) for group in groups]
    mean_s = sum(tasks * cost for tasks, cost in costs) / count
    return {**found, COUNT: count, BUSIEST: _busiest_s(costs, policy, gpu.num_sms) / mean_s}


def _cost_s(group: Columns, gpu: GPU, dtype: DType) -> float:
    """Seconds of one task on an SM of its own, by its slowest pipe."""
    r = rates(gpu, dtype)
    slowest_s: float = max(
        group["tensor_flop"] / r.math_flop_per_s,
        group["fma_flop"] / r.fma_flop_per_s,
        group["xu_op"] / r.xu_op_per_s,
        group["shared_bytes"] / r.shared_bytes_per_s,
        (group["load_bytes"] + group["store_bytes"]) / gpu.l2_port_bytes_per_s,
    )
    return slowest_s


def _busiest_s(costs: list[tuple[int, float]], policy: str, num_sms: int) -> float:
    """Seconds of work of the busiest SM, tasks in the order of their groups."""
    if sum(tasks for tasks, _ in costs) > MOST_PLACED:
        return max(sum(tasks * cost for tasks, cost in costs) / num_sms, *(cost for _, cost in costs))
    every = [cost for tasks, cost in costs for _ in range(tasks)]
    placed = hardware.simulate(every, num_sms) if policy == "HW" else software.static_stride(every, num_sms)
    return float(placed.makespan)
