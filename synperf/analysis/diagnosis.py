"""Why a GPU is used too little: seven causes by the time that each costs, the largest first.

Idle time is split by what the host did (gaps.py); what it did otherwise is CPU work where it was in operators that
launch nothing, else the framework. Copies count where no kernel hides them. Small operators are kernels of families
that memory bounds, shorter than the median time from one launch to the next. Texts are in diagnosis.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FieldError, UnknownNameError
from ..light_classes import dataclass
from ..traces.events import Column, Kind, among, distinct
from ..units import counted, format_percent
from . import gaps
from .classify import family
from .finding import Finding, told
from .gaps import Gaps
from .intervals import Intervals
from .launched import interval_ns, launches
from .nested import Nested
from .overlap import Overlap
from .work import Work

_FILE = Path(__file__).with_name("diagnosis.toml")
_BY_GAPS = {"data_loading": gaps.DATALOADER, "small_batch": gaps.LAUNCH_BOUND, "synchronisation": gaps.SYNCHRONISED}
_RANGES = {**_BY_GAPS, "transfers": gaps.COPYING, "framework": gaps.HOST, "cpu_preprocessing": gaps.HOST}
_BOUND_BY_MEMORY = ("elementwise", "copy", "fill", "norm", "reduction", "index", "softmax", "rope")
_LAUNCHES = 3  # median times from one launch to the next: an operator that takes longer does more than dispatching


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """An indicator of one cause: the time that it costs, and in how many pieces where they are counted."""

    time_ns: int
    count: int = 0
    ranges: tuple[tuple[int, int], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One of the seven, and what says so. `share` is of the span of the device; below 2 % it is not worth a finding."""

    cause: str
    title: str
    is_worth: bool
    total_ns: int
    share: float
    evidence: str
    tool: str
    advice: str
    ranges: tuple[tuple[int, int], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Of one device: causes that cost something, the one that costs most first, and a verdict in a sentence."""

    rank: int | None
    device: int
    busy_share: float
    causes: tuple[Cause, ...]
    verdict: str


def names() -> tuple[str, ...]:
    """The seven causes."""
    return tuple(_table()["causes"])


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def causes(measured: Mapping[str, Measured], span_ns: int) -> tuple[Cause, ...]:
    """The causes that these indicators are evidence of, the one that costs most first.

    Raises:
        FieldError: an indicator is of none of the seven causes, or costs less than nothing.
    """
    for name, one in measured.items():
        if name not in names():
            raise FieldError(f"indicators: {UnknownNameError.among('cause', name, names())}")
        if one.time_ns < 0 or span_ns <= 0:
            raise FieldError(f"indicators: {name} is {one.time_ns} ns of {span_ns}; right would be a part of the span")
    made = [_cause(name, one, span_ns) for name, one in measured.items() if one.time_ns]
    return tuple(sorted(made, key=lambda one: (-one.total_ns, one.cause)))


def verdict(found: Sequence[Cause], unexplained: float) -> str:
    """What to do first; where nothing is known of most idle time, that a timeline is needed first."""
    if found and found[0].is_worth:
        return f"{found[0].title}: {found[0].advice}"
    return str(_table()["no_evidence" if unexplained > _table()["worth"] else "no_cause"])


def _cause(name: str, one: Measured, span_ns: int) -> Cause:
    text, share = _table()["causes"][name], one.time_ns / span_ns
    number = f"{counted(one.count, text['noun'])}, " if one.count and "noun" in text else ""
    evidence = f"{number}{told(one.time_ns)} {text['state']}, {format_percent(share)} of the span: {text['means']}"
    return Cause(
        cause=name, title=text["title"], is_worth=share > _table()["worth"], total_ns=one.time_ns,
        share=share, evidence=evidence, tool=text["tool"], advice=text["advice"], ranges=one.ranges,
    )  # fmt: skip


def diagnose(work: Work, times: Overlap, idle: Gaps, found: Nested, gpu_ns: Column) -> Diagnosis:
    """The causes of one device; `gpu_ns` is the GPU time of each nested range and of all below it."""
    if not times.span_ns:
        return Diagnosis(rank=times.rank, device=times.device, busy_share=0.0, causes=(), verdict=verdict((), 1.0))
    measured = indicators(work, times, idle, found, gpu_ns)
    made = causes(measured, times.span_ns)
    unknown = sum(one.total_ns for one in idle.idle if one.cause == gaps.UNKNOWN)
    return Diagnosis(
        rank=times.rank, device=times.device, busy_share=times.busy_ns / times.span_ns, causes=made,
        verdict=verdict(made, unknown / times.span_ns),
    )  # fmt: skip


def indicators(work: Work, times: Overlap, idle: Gaps, found: Nested, gpu_ns: Column) -> dict[str, Measured]:
    """What each of the seven causes costs on one device."""
    by_cause = {one.cause: one for one in idle.idle}
    longest = {
        name: tuple((g.start_ns, g.start_ns + g.dur_ns) for g in idle.longest if g.cause == cause)
        for name, cause in _RANGES.items()
    }
    per_launch = interval_ns(work.events, launches(work.events, work.rows)) or 0
    late = _of_host(found, gpu_ns, idle.apart[gaps.HOST], _LAUNCHES * per_launch)
    copying = by_cause[gaps.COPYING].total_ns if gaps.COPYING in by_cause else 0
    small = _small(work, per_launch)
    made = {
        "cpu_preprocessing": Measured(time_ns=late, ranges=longest["cpu_preprocessing"]),
        "framework": Measured(time_ns=idle.apart[gaps.HOST].total_ns - late, ranges=longest["framework"]),
        "transfers": Measured(time_ns=times.exposed_copy_ns + copying, ranges=longest["transfers"]),
        "small_operators": Measured(time_ns=int(work.events.dur_ns[small].sum()), count=len(small)),
    }
    for name, cause in _BY_GAPS.items():
        if cause in by_cause:
            one = by_cause[cause]
            made[name] = Measured(time_ns=one.total_ns, count=one.count, ranges=longest[name])
    return made


def _of_host(found: Nested, gpu_ns: Column, late: Intervals, least_ns: int) -> int:
    """How much of these gaps the host was in operators that launch nothing, and are no mere dispatching."""
    events = found.events
    works = (events.kind[found.rows] == Kind.OPERATOR) & (gpu_ns == 0) & (events.dur_ns[found.rows] > least_ns)
    busy = Intervals.of(events, np.sort(found.rows[works]))
    return int(busy.covered(late.start, late.end).sum())


def _small(work: Work, per_launch: int) -> Column:
    """Kernels shorter than a launch takes, of families that memory bounds."""
    events = work.events
    known = distinct(events.name[work.compute])
    bound = known[[family(events.names[name]) in _BOUND_BY_MEMORY for name in known.tolist()]]
    short = events.dur_ns[work.compute] < per_launch
    kernels: Column = work.compute[short & among(events.name[work.compute], bound)]
    return kernels


def findings(found: Diagnosis) -> list[Finding]:
    """A finding for each cause that is worth it."""
    return [
        Finding(
            title=one.title, evidence=one.evidence, advice=one.advice, saving_ns=one.total_ns, rank=found.rank,
            ranges=one.ranges,
        )
        for one in found.causes
        if one.is_worth
    ]  # fmt: skip
