"""What `decompose` of a file gives, checked: the work of one task and how many there are, or a list of such groups.

A group is a dict. `count` tasks do the same work: `tensor_flop`, `fma_flop`, `xu_op`, `load_bytes` (out of L2),
`store_bytes` (into L2), `shared_bytes` (through shared memory), of which those that are left out are 0.
`threads_per_cta`, `registers_per_thread` and `shared_bytes_per_cta` tell how many tasks an SM holds at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ...errors import UnknownNameError
from ...hardware import GPU, DType
from ...hardware.rates import rates
from ...numeric import Number, maximum
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
        groups = _table(given)
        return groups if len(given) == 1 else _mean(groups, policy, gpu, dtype)
    return checked(given, None)


def _table(groups: Sequence[Any]) -> Columns:
    """Groups as columns of a value each; of what a CTA takes, the most of any.

    Raises:
        WrongTasksError: the first wrong group is no work.
    """
    size = len(groups)
    if size == 1:
        return checked(groups[0], None)
    try:
        columns = {name: _values([group.get(name, 0.0) for group in groups]) for name in set().union(*groups)}
        ctas = {name: _column(name, columns.pop(name), size, 0.0) for name in CTA if name in columns}
        found = checked(columns, size)
        _require_work(found | ctas)
    except (AttributeError, OverflowError, TypeError, WrongTasksError):  # alone, the wrong one says why
        for half in (groups[: size // 2], groups[size // 2 :]):
            _table(half)
        raise
    return found | {name: float(column.max()) for name, column in ctas.items()}


def _values(given: list[Any]) -> np.ndarray:
    """A column of numbers.

    Raises:
        TypeError: something is none.
    """
    for kind in set(map(type, given)):
        if issubclass(kind, bool) or not issubclass(kind, int | float | np.integer | np.floating):
            raise TypeError
    return np.array(given, dtype=np.float64)


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


def _mean(groups: Columns, policy: str, gpu: GPU, dtype: DType) -> Columns:
    """The mean task of groups that differ, and what the busiest SM has under a policy, in mean tasks."""
    counts = groups[COUNT]
    count = float(counts.sum())
    found = {name: float((counts * groups[name]).sum() / count) for name in WORK}
    found |= {name: groups[name] for name in CTA if name in groups}
    costs_s = np.broadcast_to(_cost_s(groups, gpu, dtype), counts.shape)
    mean_s = (counts * costs_s).sum() / count
    return {**found, COUNT: count, BUSIEST: float(_busiest_s(counts, costs_s, policy, gpu.num_sms) / mean_s)}


def _cost_s(groups: Columns, gpu: GPU, dtype: DType) -> Number:
    """Seconds of one task of each group on an SM of its own, by its slowest pipe."""
    r = rates(gpu, dtype)
    pipes_s = (
        groups["tensor_flop"] / r.math_flop_per_s,
        groups["fma_flop"] / r.fma_flop_per_s,
        groups["xu_op"] / r.xu_op_per_s,
        groups["shared_bytes"] / r.shared_bytes_per_s,
        (groups["load_bytes"] + groups["store_bytes"]) / gpu.l2_port_bytes_per_s,
    )
    return reduce(maximum, pipes_s)


def _busiest_s(counts: np.ndarray, costs_s: np.ndarray, policy: str, num_sms: int) -> float:
    """Seconds of work of the busiest SM, tasks in the order of their groups."""
    if counts.sum() > MOST_PLACED:
        return float(max((counts * costs_s).sum() / num_sms, costs_s.max()))
    every = np.repeat(costs_s, counts.astype(int)).tolist()
    placed = hardware.simulate(every, num_sms) if policy == "HW" else software.static_stride(every, num_sms)
    return float(placed.makespan)
