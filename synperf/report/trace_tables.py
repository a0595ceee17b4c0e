"""The answers about a trace as tables that text, Markdown and the page share: where the time went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..analysis.gaps import CAUSES
from ..analysis.overlap import Overlap
from ..analysis.whole import Analysis
from .trace_columns import DEVICE, RANK, Column, Table, count, name, rate, share, size, time, words, words_of


def times(found: Analysis) -> Table:
    """What each device did with its time."""
    heads = ("span", "busy", "compute", "exposed copy", "exposed comm", "idle")
    return Table(
        key="ranks",
        title="Devices",
        columns=(RANK, DEVICE, *(Column(h, time) for h in heads), Column("idle %", share), Column("kernels", count)),
        rows=tuple(map(_times, found.overlaps)),
        note="Span = busy + idle; busy = compute + exposed copy + exposed communication.",
    )


def _times(one: Overlap) -> tuple[Any, ...]:
    values = (one.span_ns, one.busy_ns, one.compute_ns, one.exposed_copy_ns, one.exposed_comm_ns, one.idle_ns)
    return (one.rank, one.device, *values, one.idle_ns / one.span_ns if one.span_ns else None, one.kernels)


def families(found: Analysis) -> Table:
    """Families of kernels over all devices."""
    return Table(
        key="families",
        title="Kernels by family",
        columns=(words_of("kernels"), Column("count", count), Column("total", time), Column("share", share)),
        rows=_summed([(one.family, one.count, one.total_ns) for one in found.families]),
        note="Sums of durations over all devices: what runs at the same time counts twice.",
    )


def kernels(found: Analysis) -> Table:
    """Kernels by name over all devices."""
    family = {one.name: one.family for one in found.kernels}
    summed = _summed([(one.name, one.count, one.total_ns) for one in found.kernels])
    mean = Column("mean", time)
    return Table(
        key="kernels",
        title="Kernels by name",
        columns=(
            name("kernel"),
            words_of("family"),
            Column("count", count),
            Column("total", time),
            mean,
            Column("share", share),
        ),
        rows=tuple((word, family[word], n, total, total / n, part) for word, n, total, part in summed),
    )


def _summed(rows: Sequence[tuple[str, int, int]]) -> tuple[tuple[str, int, int, float | None], ...]:
    """Counts, totals and shares by name, the largest total first."""
    sums: dict[str, tuple[int, int]] = {}
    for word, number, total in rows:
        before = sums.get(word, (0, 0))
        sums[word] = before[0] + number, before[1] + total
    whole = sum(total for _, total in sums.values())
    order = sorted(sums.items(), key=lambda one: (-one[1][1], one[0]))
    return tuple((word, n, total, total / whole if whole else None) for word, (n, total) in order)


def idle(found: Analysis) -> Table:
    """Causes of idle time over all devices."""
    summed = _summed([(one.cause, one.count, one.total_ns) for one in found.idle])
    return Table(
        key="idle",
        title="Idle time by cause",
        columns=(words_of("idle"), Column("gaps", count), Column("total", time), words_of("because")),
        rows=tuple((cause, gaps, total, CAUSES[cause]) for cause, gaps, total, _ in summed),
        note="A gap is when nothing runs on any stream of a device.",
    )


def gaps(found: Analysis) -> Table:
    """The longest gaps, from the start of their device's span."""
    zero = {(one.rank, one.device): one.start_ns for one in found.overlaps}
    longest = sorted(found.gaps, key=lambda gap: -gap.dur_ns)
    where = (RANK, DEVICE) if len(found.overlaps) > 1 else ()
    rows = []
    for gap in longest:
        place = (gap.rank, gap.device) if where else ()
        at = gap.start_ns - zero[gap.rank, gap.device]
        rows.append((gap.dur_ns, at, *place, gap.cause, gap.operator, gap.python))
    return Table(
        key="gaps",
        title="Longest gaps",
        columns=(
            Column("longest gaps", time), Column("at", time), *where, words_of("cause"), name("host in"),
            name("Python"),
        ),
        rows=tuple(rows),
        note="`at` is from the first GPU event of the device; the host is looked at in the middle of its delay.",
    )  # fmt: skip


def step_times(found: Analysis) -> Table:
    """The steps of each rank as a whole."""
    rows = []
    for one in found.steps:
        slow = ", ".join(f"{step.name} {time(step.dur_ns)}" for step in one.steps if step.is_slow)
        rows.append(
            (one.rank, len(one.steps), one.found_by, one.median_ns, one.spread if len(one.steps) > 1 else None, slow)
        )
    return Table(
        key="step_times",
        title="Steps of each rank",
        columns=(
            RANK, Column("steps", count), words_of("found by"), Column("median", time), Column("spread", share),
            name("slow"),
        ),
        rows=tuple(rows),
        note="Spread is the median distance from the median, over it.",
    )  # fmt: skip


def steps(found: Analysis) -> Table:
    """Every step of every rank."""
    rows = [
        (one.rank, one.name, one.dur_ns, one.busy_ns, one.compute_ns, _marks(one.is_slow, one.may_be_cut))
        for steps in found.steps
        for one in steps.steps
    ]
    return Table(
        key="steps",
        title="Steps",
        columns=(
            RANK, name("step"), Column("time", time), Column("GPU busy", time), Column("compute", time), words_of("")
        ),
        rows=tuple(rows),
        note="On the host's clock. The window of the profiler may have cut the first and the last.",
    )  # fmt: skip


def _marks(is_slow: bool, may_be_cut: bool) -> str:
    return ", ".join(word for word, holds in (("slow", is_slow), ("may be cut", may_be_cut)) if holds)


def loaders(found: Analysis) -> Table:
    """Waits for the DataLoader."""
    return Table(
        key="dataloader",
        title="DataLoader",
        columns=(RANK, Column("waits", count), Column("total", time), Column("of the trace", share)),
        rows=tuple((one.rank, one.count, one.total_ns, one.share) for one in found.dataloaders),
    )


def waits(found: Analysis) -> Table:
    """Waits of the host for the device."""
    return Table(
        key="waits",
        title="Waits of the host",
        columns=(
            RANK, name("call"), Column("calls", count), Column("total", time), Column("GPU worked", time),
        ),
        rows=tuple((one.rank, one.name, one.count, one.total_ns, one.worked_ns) for one in found.waits),
        note="While the GPU works, a wait is the time of its kernels and copies: without the call the next one waits.",
    )  # fmt: skip


def late(found: Analysis) -> Table:
    """Ranks that were last at collectives."""
    ranks = found.across.late if found.across else ()
    whole = len(found.across.collectives) if found.across else 0
    return Table(
        key="late_ranks",
        title="Late ranks",
        columns=(
            Column("late rank", words), Column("last at", lambda times: f"{times} of {whole}"),
            Column("others waited", time), Column("behind the next", time),
        ),
        rows=tuple((one.rank, one.times_last, one.others_waited_ns, one.delay_ns) for one in ranks),
        note="Collectives end together: the last rank to arrive has the shortest kernel; the others wait in theirs.",
    )  # fmt: skip


def collectives(found: Analysis) -> Table:
    """Collectives that all ranks have."""
    made = found.across.collectives if found.across else ()
    zero = min((one.start_ns for one in made), default=0)
    return Table(
        key="collectives",
        title="Collectives",
        columns=(
            name("collective"), Column("at", time), Column("spread", time), Column("transfer", time),
            Column("last rank", words), Column("bytes", size), Column("busbw", rate),
        ),
        rows=tuple(
            (c.name, c.start_ns - zero, c.spread_ns, c.transfer_ns, c.last_rank, c.bytes, c.busbw_bytes_per_s)
            for c in made
        ),
        note="Spread is from the first rank's arrival to the last one's, transfer from there to the last end; the bus"
        " bandwidth is over the transfer alone.",
    )  # fmt: skip


def imbalance(found: Analysis) -> Table:
    """How evenly ranks share steps."""
    mean, most = Column("mean compute", time), Column("most", time)
    return Table(
        key="imbalance",
        title="Balance of ranks",
        columns=(name("step"), mean, most, Column("busiest rank", words), Column("mean / most", share)),
        rows=tuple(
            (one.step, one.mean_compute_ns, one.max_compute_ns, one.busiest_rank, one.efficiency)
            for one in found.imbalance
        ),
    )


def copies(found: Analysis) -> Table:
    """Copies and memsets by kind."""
    rows = [
        (one.rank, one.device, one.direction, one.host_memory, one.count, one.total_ns, one.bytes, one.bytes_per_s)
        for one in found.copies
    ]
    return Table(
        key="copies",
        title="Copies",
        columns=(
            RANK, DEVICE, words_of("copy"), words_of("host memory"), Column("count", count), Column("total", time),
            Column("bytes", size), Column("rate", rate),
        ),
        rows=tuple(rows),
    )  # fmt: skip


def launches(found: Analysis) -> Table:
    """How the host launches."""
    rows = [
        (
            one.rank, one.device, one.calls, one.events, one.untied, one.delay_median_ns, one.interval_median_ns,
            one.short_kernels, one.short_ns, one.graph_launches, one.graph_events, one.found_empty_share,
        )
        for one in found.launches
    ]  # fmt: skip
    return Table(
        key="launches",
        title="Launches",
        columns=(
            RANK, DEVICE, Column("calls", count), Column("events", count), Column("without a call", count),
            Column("delay", time), Column("interval", time), Column("short kernels", count), Column("their time", time),
            Column("graphs", count), Column("events in graphs", count), Column("queue found empty", share),
        ),
        rows=tuple(rows),
        note="Delay and interval are medians: from a call to the start on the device, and from one call to the next. A"
        " kernel is short if it lasts less than the interval.",
    )  # fmt: skip
