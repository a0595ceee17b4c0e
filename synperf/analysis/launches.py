"""How the host launches what a device runs: delays, the depth of the queue, short kernels, graph replays."""

from __future__ import annotations

import re

import numpy as np

from ..light_classes import dataclass
from ..traces.events import CALLS, GPU_WORK, Caution, Column, Kind, among, distinct
from .launched import interval_ns, is_graph
from .launched import launches as launched_by
from .work import Work

_KERNEL = re.compile(r"Launch(Cooperative)?Kernel|GraphLaunch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launches:
    """Of one device. Only events whose launch is in the file count, but for `untied`; None where there are none.

    The delay is from the begin of the call to the start on the device. The depth of the queue is how many events are
    launched and not started when a call begins. A kernel is short if it lasts less than the median time from one launch
    to the next, which is what the host needs for one: `short_ns` is the time in such kernels.
    """

    rank: int | None
    device: int
    calls: int
    events: int
    untied: int
    untied_ns: int
    untied_share: float  # of the sum of all durations
    lost: int  # launches of kernels that are on no device of the file
    delay_median_ns: int | None
    delay_p90_ns: int | None
    delay_max_ns: int | None
    started_early: int  # before their launch: the clocks of host and device disagree
    interval_median_ns: int | None
    short_kernels: int
    short_ns: int
    graph_launches: int
    graph_events: int
    graph_ns: int
    queue_mean: float | None
    queue_max: int | None
    found_empty_share: float | None  # of calls, that found the queue empty


def launches(work: Work) -> Launches:
    """The launches of one device."""
    events, rows = work.events, work.rows
    call = launched_by(events, rows)
    tied = call >= 0
    rows_tied, call = rows[tied], call[tied]
    dur = events.dur_ns[rows]
    untied_ns, whole = int(dur[~tied].sum()), int(dur.sum())
    graph = is_graph(events, call)
    delay = events.start_ns[rows_tied] - events.start_ns[call]
    interval = interval_ns(events, call)
    kernels = work.kernels
    short = events.dur_ns[kernels] < interval if interval is not None else np.zeros(len(kernels), dtype=bool)
    depth = _depths(events.start_ns[call], events.start_ns[rows_tied])
    return Launches(
        rank=work.trace.rank,
        device=work.device,
        calls=len(distinct(call)),
        events=len(call),
        untied=int((~tied).sum()),
        untied_ns=untied_ns,
        untied_share=untied_ns / whole if whole else 0.0,
        lost=_lost(work),
        delay_median_ns=_percentile(delay, 50),
        delay_p90_ns=_percentile(delay, 90),
        delay_max_ns=int(delay.max()) if len(delay) else None,
        started_early=int((delay < 0).sum()),
        interval_median_ns=interval,
        short_kernels=int(short.sum()),
        short_ns=int(events.dur_ns[kernels][short].sum()),
        graph_launches=len(distinct(call[graph])),
        graph_events=int(graph.sum()),
        graph_ns=int(events.dur_ns[rows_tied][graph].sum()),
        queue_mean=float(depth.mean()) if len(depth) else None,
        queue_max=int(depth.max()) if len(depth) else None,
        found_empty_share=float((depth == 0).mean()) if len(depth) else None,
    )


def _lost(work: Work) -> int:
    """Launches whose kernels are not in the file, of all devices."""
    events = work.events
    rows = events.of(*CALLS)
    wanted = events.correlation[rows[events.named(rows, _KERNEL.search)]]
    known = events.correlation[events.of(*GPU_WORK, Kind.UNTIMED)]
    return int((~among(wanted[wanted > 0], known)).sum())


def _percentile(values: Column, percent: float) -> int | None:
    """Between two values in proportion, digit for digit as by `np.percentile`, which imports numpy.ma too."""
    if not len(values):
        return None
    place = (len(values) - 1) * (percent / 100)
    low, high = int(place), min(int(place) + 1, len(values) - 1)
    below, above = np.partition(values, (low, high))[[low, high]].tolist()
    share = place - low
    return int(above - (above - below) * (1 - share) if share >= 0.5 else below + (above - below) * share)


def _depths(launched: Column, started: Column) -> Column:
    """What each call finds in the queue; events that start before their launch are never in it."""
    calls = distinct(launched)
    before = np.searchsorted(np.sort(launched), calls, side="left")
    done = np.searchsorted(np.sort(np.maximum(started, launched)), calls, side="right")
    return np.asarray(np.maximum(before - done, 0))


def cautions(found: Launches) -> list[Caution]:
    """What could not be tied to a launch or to what it launched, and clocks that disagree."""
    made = []
    if found.untied:
        text = f"GPU events on device {found.device} have no launch in the file; the share is of the GPU time"
        made.append(Caution(text=text, count=found.untied, share=found.untied_share))
    if found.lost:
        text = "launches have no kernel in the file: it was dropped, or ran after the end of the recording"
        made.append(Caution(text=text, count=found.lost))
    if found.started_early:
        text = f"GPU events on device {found.device} start before their launch: the clocks of host and device disagree"
        made.append(Caution(text=text, count=found.started_early))
    return made
