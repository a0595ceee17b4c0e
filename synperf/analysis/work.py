"""The GPU work of a trace, device by device, told apart into kernels that compute, collectives and copies."""

from __future__ import annotations

from collections.abc import Iterator

from ..light_classes import dataclass
from ..traces.events import GPU_WORK, Column, Events, Kind, Trace, distinct
from .classify import collectives


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Rows of one device, in order of start. `compute` are kernels but for collectives; memsets are among `copies`."""

    trace: Trace
    device: int
    rows: Column
    compute: Column
    collectives: Column
    copies: Column

    @property
    def events(self) -> Events:
        return self.trace.events

    @property
    def kernels(self) -> Column:
        """Collectives too."""
        kernels: Column = self.rows[self.events.kind[self.rows] == Kind.KERNEL]
        return kernels


def devices(trace: Trace) -> Iterator[Work]:
    """The work of each device that has any, by its number."""
    events = trace.events
    rows = events.of(*GPU_WORK)
    communicate, kernel = collectives(events, rows), events.kind[rows] == Kind.KERNEL
    for device in distinct(events.device[rows]).tolist():
        here = events.device[rows] == device
        yield Work(
            trace=trace,
            device=device,
            rows=rows[here],
            compute=rows[here & kernel & ~communicate],
            collectives=rows[here & communicate],
            copies=rows[here & ~kernel],
        )
