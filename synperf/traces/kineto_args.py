"""The arguments of Kineto's events that are read, by kind; the others are skipped, and never kept.

Spellings are those of every age since 2020.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw, field

from .events import Kind
from .kineto_events import NOTHING, Value


class Call(msgspec.Struct, gc=False):
    """Of a call of the runtime or the driver."""

    external: Value = field(name="External id", default=-1)
    correlation: Value = -1
    external_old: Value = field(name="external id", default=-1)


class OnGpu(Call, gc=False):
    """Of anything on a device."""

    device: Value = -1
    stream: Value = -1


class Copy(OnGpu, gc=False):
    """Of a copy or memset."""

    bytes: Value = -1


class Message(msgspec.Struct, gc=False):
    """Of a collective, or of the operator that records one."""

    collective: Value = field(name="Collective name", default="")
    in_elements: Value = field(name="In msg nelems", default=-1)
    out_elements: Value = field(name="Out msg nelems", default=-1)
    group_size: Value = field(name="Group size", default=-1)
    dtype: Value = ""
    group: Value = field(name="Process Group Name", default="")
    ranks: Raw = field(name="Process Group Ranks", default=NOTHING)


class Kernel(OnGpu, gc=False):
    """Of a kernel."""

    registers: Value = field(name="registers per thread", default=-1)
    shared_bytes: Value = field(name="shared memory", default=-1)
    grid: Raw = NOTHING
    block: Raw = NOTHING
    occupancy: Value = field(name="est. achieved occupancy %", default=None)
    occupancy_old: Value = field(name="theoretical occupancy %", default=None)
    collective: Value = field(name="Collective name", default="")


class Operator(msgspec.Struct, gc=False):
    """Of an operator or an annotation on the host."""

    external: Value = field(name="External id", default=-1)
    dims: Raw = field(name="Input Dims", default=NOTHING)
    types: Raw = field(name="Input type", default=NOTHING)
    strides: Raw = field(name="Input Strides", default=NOTHING)
    values: Raw = field(name="Concrete Inputs", default=NOTHING)
    external_old: Value = field(name="external id", default=-1)
    dims_old: Raw = field(name="Input dims", default=NOTHING)


class Allocation(msgspec.Struct, gc=False):
    """Of a change of memory."""

    bytes: Value = field(name="Bytes", default=0)
    address: Value = field(name="Addr", default=-1)
    device_type: Value = field(name="Device Type", default=-1)
    device: Value = field(name="Device Id", default=-1)
    allocated_bytes: Value = field(name="Total Allocated", default=-1)
    reserved_bytes: Value = field(name="Total Reserved", default=-1)


class Frame(msgspec.Struct, gc=False):
    """Of a frame of Python's stack."""

    frame: Value = field(name="Python id", default=-1)
    parent: Value = field(name="Python parent id", default=-1)


ARGS: dict[Kind, type[msgspec.Struct]] = {
    Kind.KERNEL: Kernel,
    Kind.MEMCPY: Copy,
    Kind.MEMSET: Copy,
    Kind.SYNC: OnGpu,
    Kind.GPU_ANNOTATION: OnGpu,
    Kind.COUNTERS: OnGpu,
    Kind.RUNTIME: Call,
    Kind.DRIVER: Call,
    Kind.OPERATOR: Operator,
    Kind.ANNOTATION: Operator,
    Kind.MEMORY: Allocation,
    Kind.PYTHON: Frame,
    Kind.UNTIMED: Kernel,
}
