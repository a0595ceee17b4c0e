"""The arguments of Kineto's events that are read, of whatever kind; the others are skipped, and never kept.

Spellings are those of every age since 2020.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw, field

Value = int | float | str | None  # numbers may be written as text
NOTHING = Raw(b"")  # of a field that is not there


class Args(msgspec.Struct, gc=False, frozen=True):
    """All of them are one type, so that an event is decoded at once, before its kind is known."""

    # of operators and annotations on the host, of calls, and of anything on a device
    external: Value = field(name="External id", default=-1)
    external_old: Value = field(name="external id", default=-1)
    # of calls, and of anything on a device
    correlation: Value = -1
    # of anything on a device
    device: Value = -1
    stream: Value = -1
    # of copies and memsets
    bytes: Value = -1
    # of kernels
    registers: Value = field(name="registers per thread", default=-1)
    shared_bytes: Value = field(name="shared memory", default=-1)
    grid: Raw = NOTHING
    block: Raw = NOTHING
    occupancy: Value = field(name="est. achieved occupancy %", default=None)
    occupancy_old: Value = field(name="theoretical occupancy %", default=None)
    # of operators and annotations on the host
    dims: Raw = field(name="Input Dims", default=NOTHING)
    dims_old: Raw = field(name="Input dims", default=NOTHING)
    types: Raw = field(name="Input type", default=NOTHING)
    strides: Raw = field(name="Input Strides", default=NOTHING)
    values: Raw = field(name="Concrete Inputs", default=NOTHING)
    # of kernels of collectives, and of the operators that record them
    collective: Value = field(name="Collective name", default="")
    in_elements: Value = field(name="In msg nelems", default=-1)
    out_elements: Value = field(name="Out msg nelems", default=-1)
    group_size: Value = field(name="Group size", default=-1)
    dtype: Value = ""
    group: Value = field(name="Process Group Name", default="")
    ranks: Raw = field(name="Process Group Ranks", default=NOTHING)
    # of changes of memory
    changed_bytes: Value = field(name="Bytes", default=0)
    address: Value = field(name="Addr", default=-1)
    memory_type: Value = field(name="Device Type", default=-1)
    memory_device: Value = field(name="Device Id", default=-1)
    allocated_bytes: Value = field(name="Total Allocated", default=-1)
    reserved_bytes: Value = field(name="Total Reserved", default=-1)
    # of frames of Python's stack
    frame: Value = field(name="Python id", default=-1)
    parent: Value = field(name="Python parent id", default=-1)


NO_ARGS = Args()
