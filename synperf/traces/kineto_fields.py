"""The fields of Kineto's events, and of their arguments, that are read; others are skipped, and never kept.

Spellings are those of every age since 2020. Nothing here needs more than Python has: `kineto_early` reads while other
modules are imported. Source: "Trace Event Format", Google, 2016; the writers of pytorch/kineto.
"""

from __future__ import annotations

from typing import Any, NamedTuple

HALVES = frozenset("BE")  # phases of events whose begin and end stand apart


class Field(NamedTuple):
    """`kind` is s, a string; w, mostly a whole number; v, a number or a string; d, a decimal; r, anything.

    The last two stay undecoded, the latter of which is so for decimals since a double has too few digits for times.
    """

    name: str
    key: str
    kind: str
    missing: Any  # what stands for it where an event has none

    @property
    def is_raw(self) -> bool:
        return self.kind in "dr"


def _field(kind: str, missing: Any) -> Any:
    return lambda name, key="", missing=missing: Field(name, key or name, kind, missing)


_string, _whole, _value = _field("s", ""), _field("w", -1), _field("v", None)
_decimal, _raw = _field("d", b""), _field("r", b"")

OF_EVENT: tuple[Field, ...] = (
    _string("ph"), _string("cat"), _string("name"), _value("pid"), _value("tid"), _decimal("ts"), _decimal("dur"),
)  # fmt: skip
OF_ARGS: tuple[Field, ...] = (
    # of operators and annotations on the host, of calls, and of anything on a device
    _whole("external", "External id"),
    _whole("external_old", "external id"),
    # of calls, and of anything on a device
    _whole("correlation"),
    # of anything on a device
    _whole("device"),
    _whole("stream"),
    # of copies and memsets
    _whole("bytes"),
    # of kernels
    _whole("registers", "registers per thread"),
    _whole("shared_bytes", "shared memory"),
    _raw("grid"),
    _raw("block"),
    _value("occupancy", "est. achieved occupancy %"),
    _value("occupancy_old", "theoretical occupancy %"),
    # of operators and annotations on the host
    _raw("dims", "Input Dims"),
    _raw("dims_old", "Input dims"),
    _raw("types", "Input type"),
    _raw("strides", "Input Strides"),
    _raw("values", "Concrete Inputs"),
    # of kernels of collectives, and of the operators that record them
    _value("collective", "Collective name", ""),
    _whole("in_elements", "In msg nelems"),
    _whole("out_elements", "Out msg nelems"),
    _whole("group_size", "Group size"),
    _value("dtype", missing=""),
    _value("group", "Process Group Name", ""),
    _raw("ranks", "Process Group Ranks"),
    # of changes of memory
    _whole("changed_bytes", "Bytes", 0),
    _whole("address", "Addr"),
    _whole("memory_type", "Device Type"),
    _whole("memory_device", "Device Id"),
    _whole("allocated_bytes", "Total Allocated"),
    _whole("reserved_bytes", "Total Reserved"),
    # of frames of Python's stack
    _whole("frame", "Python id"),
    _whole("parent", "Python parent id"),
)
FIELDS = {one.name: one for one in (*OF_EVENT, *OF_ARGS)}
