"""All questions asked of the traces of one job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from ..traces.events import Caution, Device, Kind, Trace
from . import collectives, copies, gaps, launches, plausible
from .collectives import Across, across
from .copies import Copies
from .dataloader import DataLoader, dataloader
from .finding import Finding, drawn_together
from .gaps import Gap, Idle
from .imbalance import Imbalance, imbalance
from .kernels import Family, Kernel, families, kernels
from .launches import Launches
from .overlap import Overlap, findings, overlap
from .steps import Steps, steps
from .timeline import Timeline, timeline
from .work import devices

LONGEST = 20  # gaps of each device that are told
SLICES = 240  # of the span of each device: one is a point or two of a picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One trace, as it says of itself."""

    file: str
    format: str
    rank: int | None
    world_size: int | None
    events: int
    devices: tuple[Device, ...]
    host: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """A question that the traces do not answer, and why: it is not that the answer is none."""

    question: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The answers, each as numbers; findings are drawn from them, and the largest saving is first."""

    sources: tuple[Source, ...]
    cautions: tuple[Caution, ...]
    unseen: tuple[Unseen, ...]
    overlaps: tuple[Overlap, ...]
    timelines: tuple[Timeline, ...]
    steps: tuple[Steps, ...]
    families: tuple[Family, ...]
    kernels: tuple[Kernel, ...]
    idle: tuple[Idle, ...]
    gaps: tuple[Gap, ...]
    launches: tuple[Launches, ...]
    copies: tuple[Copies, ...]
    dataloaders: tuple[DataLoader, ...]
    across: Across | None
    imbalance: tuple[Imbalance, ...]
    findings: tuple[Finding, ...]


@dataclass(slots=True)
class _Devices:
    """What is found device by device."""

    overlaps: list[Overlap]
    timelines: list[Timeline]
    families: list[Family]
    kernels: list[Kernel]
    idle: list[Idle]
    gaps: list[Gap]
    launches: list[Launches]
    copies: list[Copies]
    findings: list[Finding]
    cautions: list[Caution]


def analyze_traces(traces: Sequence[Trace]) -> Analysis:
    """The answers to all questions about traces of one job, one for each rank."""
    found = _Devices(*([] for _ in fields(_Devices)))
    for trace in traces:
        _add_devices(found, trace)
    stepped = tuple(one for one in map(steps, traces) if one is not None)
    loaders = tuple(one for one in map(dataloader, traces) if one is not None)
    together = across(traces)
    drawn = [*found.findings, *(collectives.findings(together) if together else [])]
    return Analysis(
        sources=tuple(map(_source, traces)),
        cautions=tuple(_cautions(traces, found, stepped, together)),
        unseen=tuple(_unseen(traces, found, stepped, together)),
        overlaps=tuple(found.overlaps),
        timelines=tuple(found.timelines),
        steps=stepped,
        families=tuple(found.families),
        kernels=tuple(found.kernels),
        idle=tuple(found.idle),
        gaps=tuple(found.gaps),
        launches=tuple(found.launches),
        copies=tuple(found.copies),
        dataloaders=loaders,
        across=together,
        imbalance=imbalance(stepped),
        findings=drawn_together(drawn),
    )


def _add_devices(found: _Devices, trace: Trace) -> None:
    for work in devices(trace):
        times, named = overlap(work), kernels(work)
        idle, launched, moved = gaps.gaps(work, LONGEST), launches.launches(work), copies.copies(work)
        found.overlaps.append(times)
        found.timelines.append(timeline(work, SLICES))
        found.kernels += named
        found.families += families(named)
        found.idle += idle.idle
        found.gaps += idle.longest
        found.launches.append(launched)
        found.copies += moved
        found.findings += [
            *gaps.findings(idle, times.span_ns), *copies.findings(moved, times.span_ns), *findings(times)
        ]  # fmt: skip
        found.cautions += _of(trace, [*launches.cautions(launched), *plausible.overlong(work)])


def _source(trace: Trace) -> Source:
    return Source(
        file=trace.source, format=trace.format, rank=trace.rank, world_size=trace.world_size, events=len(trace.events),
        devices=trace.devices, host=trace.host,
    )  # fmt: skip


def _of(trace: Trace, cautions: Iterable[Caution]) -> list[Caution]:
    return [replace(one, text=f"{trace.source}: {one.text}") for one in cautions]


def _cautions(
    traces: Sequence[Trace], found: _Devices, stepped: Sequence[Steps], together: Across | None
) -> Iterator[Caution]:
    """Damage first, then what makes totals doubtful."""
    for trace in traces:
        yield from _of(trace, [*trace.cautions, *plausible.merged(trace)])
    yield from found.cautions
    for one in stepped:
        yield from plausible.empty_steps(one)
    if together is not None:
        yield from together.cautions


def _unseen(
    traces: Sequence[Trace], found: _Devices, stepped: Sequence[Steps], together: Across | None
) -> Iterator[Unseen]:
    without = [trace for trace in traces if not any(True for _ in devices(trace))]
    for trace in without:
        yield Unseen(question="what the GPU did", reason=f"{trace.source}: {_why_empty(trace)}")
    if not stepped:
        yield Unseen(question="steps", reason="no marks of steps, and no kernels that repeat evenly")
    if together is None and (len(traces) > 1 or any(one.collectives for one in found.overlaps)):
        yield Unseen(question="collectives across ranks", reason=_why_alone(traces))


def _why_empty(trace: Trace) -> str:
    if len(trace.events.of(Kind.COUNTERS)):
        return "kernels were recorded with hardware counters, one by one, which gives no times"
    return "the file has no GPU events"


def _why_alone(traces: Sequence[Trace]) -> str:
    ranks = [trace.rank for trace in traces]
    if len(ranks) == 1:
        return "there is one rank only; right would be the files of all ranks"
    if None in ranks or len(set(ranks)) < len(ranks):
        return "the files do not say which rank each of them is, or say one twice"
    return "no two ranks have collectives"
