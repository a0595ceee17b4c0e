"""One event of Chrome's trace-event JSON as torch.profiler writes it, and what its category means.

Spellings are those of every age since 2020. Source: "Trace Event Format", Google, 2016; the writers of pytorch/kineto.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from .events import Kind

Value = int | float | str | None  # numbers may be written as text; -1 where there is none
NOTHING = Raw(b"")  # of a field that is not there


class Args(msgspec.Struct, gc=False):
    """The arguments of an event that are read; the others are skipped, and never kept."""

    external: Value = msgspec.field(name="External id", default=-1)
    device: Value = -1
    stream: Value = -1
    correlation: Value = -1
    registers: Value = msgspec.field(name="registers per thread", default=-1)
    shared_bytes: Value = msgspec.field(name="shared memory", default=-1)
    grid: Raw = NOTHING
    block: Raw = NOTHING
    occupancy: Value = msgspec.field(name="est. achieved occupancy %", default=-1)
    bytes: Value = -1
    dims: Raw = msgspec.field(name="Input Dims", default=NOTHING)
    types: Raw = msgspec.field(name="Input type", default=NOTHING)
    strides: Raw = msgspec.field(name="Input Strides", default=NOTHING)
    values: Raw = msgspec.field(name="Concrete Inputs", default=NOTHING)
    external_old: Value = msgspec.field(name="external id", default=-1)
    dims_old: Raw = msgspec.field(name="Input dims", default=NOTHING)
    occupancy_old: Value = msgspec.field(name="theoretical occupancy %", default=-1)
    collective: Value = msgspec.field(name="Collective name", default=-1)
    in_elements: Value = msgspec.field(name="In msg nelems", default=-1)
    out_elements: Value = msgspec.field(name="Out msg nelems", default=-1)
    group_size: Value = msgspec.field(name="Group size", default=-1)
    dtype: Value = -1
    group: Value = msgspec.field(name="Process Group Name", default=-1)
    ranks: Raw = msgspec.field(name="Process Group Ranks", default=NOTHING)
    memory_bytes: Value = msgspec.field(name="Bytes", default=-1)
    address: Value = msgspec.field(name="Addr", default=-1)
    device_type: Value = msgspec.field(name="Device Type", default=-1)
    device_id: Value = msgspec.field(name="Device Id", default=-1)
    allocated_bytes: Value = msgspec.field(name="Total Allocated", default=-1)
    reserved_bytes: Value = msgspec.field(name="Total Reserved", default=-1)
    frame: Value = msgspec.field(name="Python id", default=-1)
    parent: Value = msgspec.field(name="Python parent id", default=-1)


NO_ARGS = Args()


class Event(msgspec.Struct, gc=False):
    """One event; times stay text, since a double has too few digits for them."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: Value = None
    tid: Value = None
    ts: Raw = NOTHING
    dur: Raw = NOTHING
    args: Args | None = None


CATEGORIES = {
    "kernel": Kind.KERNEL,
    "gpu_memcpy": Kind.MEMCPY,
    "memcpy": Kind.MEMCPY,
    "gpu_memset": Kind.MEMSET,
    "memset": Kind.MEMSET,
    "cuda_sync": Kind.SYNC,
    "cuda_runtime": Kind.RUNTIME,
    "runtime": Kind.RUNTIME,
    "mtia_runtime": Kind.RUNTIME,
    "xpu_runtime": Kind.RUNTIME,
    "privateuse1_runtime": Kind.RUNTIME,
    "cuda_driver": Kind.DRIVER,
    "xpu_driver": Kind.DRIVER,
    "privateuse1_driver": Kind.DRIVER,
    "cpu_op": Kind.OPERATOR,
    "operator": Kind.OPERATOR,
    "user_annotation": Kind.ANNOTATION,
    "gpu_user_annotation": Kind.GPU_ANNOTATION,
    "python_function": Kind.PYTHON,
    "overhead": Kind.OVERHEAD,
    "cuda_profiler_range": Kind.COUNTERS,
    "trace": Kind.SPAN,
    # what MTIA writes of its device
    "mtia_ccp_events": Kind.KERNEL,
}


UNKNOWN = -1
_FLOWS_AND_NAMES = frozenset("MstfCPNODbneSTpFvVRcj(),")  # what says nothing of its own here: `correlation` does
_HALVES = frozenset("BE")


class Kinds(dict[tuple[str, str], int]):
    """The kind of each phase and category; `Kind.OTHER` is left out, and `UNKNOWN` is what nobody knows.

    `unknown` has the categories of the latter; `halves` says whether there are events whose begin and end stand apart.
    """

    def __init__(self) -> None:
        self.unknown: set[str] = set()
        self.halves = False

    def __missing__(self, key: tuple[str, str]) -> int:
        self[key] = kind = self._of(*key)
        if kind == UNKNOWN:
            self.unknown.add(key[1] or "none")
        return kind

    def _of(self, phase: str, category: str) -> int:
        if phase in _HALVES:
            self.halves = True
            return Kind.OTHER
        if phase == "X":
            return CATEGORIES.get(category.lower(), UNKNOWN)
        if phase in ("i", "I"):
            return Kind.MARK
        return Kind.OTHER if phase in _FLOWS_AND_NAMES else UNKNOWN


def number(value: Any) -> int:
    """A whole number of 64 bits that may be written as text, in hexadecimals too, else -1."""
    if isinstance(value, str):
        value = _of_text(value)
    if isinstance(value, float) and value == value and abs(value) < 2**63:
        value = int(value)
    return value if isinstance(value, int) and abs(value) < 2**63 else -1


def _of_text(text: str) -> Any:
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return -1


def share(value: Any) -> float:
    """A percentage as a share, NaN where there is none."""
    try:
        return float(value) / 100
    except (TypeError, ValueError):
        return float("nan")
