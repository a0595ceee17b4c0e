"""What a device did with its time: compute, exposed copies, exposed communication, idle; they add up to the span.

All GPU work of the file counts, whether its launch is in the file or not; waits (`cuda_sync`) are no work. With C what
kernels cover that are no collectives, M copies and memsets, and N collectives, each a union of intervals:
compute = |C|, exposed copy = |C or M| - |C|, exposed communication = |C or M or N| - |C or M|, busy = |C or M or N|,
idle = span - busy, and the span is from the first start to the last end.
"""

from __future__ import annotations

from ..light_classes import dataclass
from ..units import format_percent
from .finding import Finding, told
from .intervals import Intervals
from .work import Work

_WORTH = 0.05  # share of the span from which exposed communication is a finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Of one device. Times are whole nanoseconds."""

    rank: int | None
    device: int
    start_ns: int
    span_ns: int
    busy_ns: int
    idle_ns: int
    compute_ns: int
    exposed_copy_ns: int
    exposed_comm_ns: int
    comm_ns: int
    copy_ns: int
    kernels: int  # collectives too
    collectives: int
    copies: int  # memsets too
    streams: int

    @property
    def hidden_comm_ns(self) -> int:
        """Communication behind computation or copies."""
        return self.comm_ns - self.exposed_comm_ns

    @property
    def hidden_comm_share(self) -> float | None:
        """Of all communication, what is hidden; None where there is none."""
        return self.hidden_comm_ns / self.comm_ns if self.comm_ns else None


def unions(work: Work) -> tuple[Intervals, Intervals, Intervals]:
    """What a device computes; that, and copies; that, and collectives: C, C or M, C or M or N."""
    compute = Intervals.of(work.events, work.compute)
    without_comm = compute.with_(Intervals.of(work.events, work.copies))
    return compute, without_comm, without_comm.with_(Intervals.of(work.events, work.collectives))


def overlap(work: Work) -> Overlap:
    """The times of one device, which has work."""
    events = work.events
    compute, without_comm, busy = unions(work)
    return Overlap(
        rank=work.trace.rank,
        device=work.device,
        start_ns=int(busy.start[0]),
        span_ns=busy.span_ns,
        busy_ns=busy.total_ns,
        idle_ns=busy.span_ns - busy.total_ns,
        compute_ns=compute.total_ns,
        exposed_copy_ns=without_comm.total_ns - compute.total_ns,
        exposed_comm_ns=busy.total_ns - without_comm.total_ns,
        comm_ns=Intervals.of(events, work.collectives).total_ns,
        copy_ns=Intervals.of(events, work.copies).total_ns,
        kernels=len(work.kernels),
        collectives=len(work.collectives),
        copies=len(work.copies),
        streams=len(set(events.stream[work.rows].tolist())),
    )


def findings(found: Overlap) -> list[Finding]:
    """Communication that nothing hides, where it takes a share of the span that is worth it."""
    if found.exposed_comm_ns <= _WORTH * found.span_ns:
        return []
    share, hidden = found.exposed_comm_ns / found.span_ns, found.hidden_comm_share or 0.0
    return [
        Finding(
            title="Communication is not hidden",
            evidence=f"{told(found.exposed_comm_ns)} of {told(found.comm_ns)} are exposed,"
            f" {format_percent(share)} of the span; {format_percent(hidden)} of it overlaps computation or copies",
            advice="Overlap it with computation (buckets, prefetching, a stream of its own) or move fewer bytes; where"
            " ranks arrive at different times, even them out first: waiting for the last one counts as communication.",
            saving_ns=found.exposed_comm_ns,
            rank=found.rank,
        )
    ]
