"""All questions asked of the traces of one job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from ..light_classes import dataclass
from ..traces.events import Caution, Column, Device, Kind, Trace
from . import collectives, copies, diagnosis, gaps, geometry, launches, operators, plausible
from .collectives import Across, across
from .copies import Copies
from .dataloader import DataLoader, dataloader
from .diagnosis import Diagnosis
from .finding import Finding, drawn_together
from .gaps import Gap, Idle
from .geometry import Geometry
from .gpu_of import Known, gpu_of
from .imbalance import Imbalance, imbalance
from .kernels import Family, Kernel, families, kernels
from .launches import Launches
from .memory import Memory, memory
from .nested import Nested, nested
from .operators import Operators
from .overlap import Overlap, findings, overlap
from .steps import Steps, steps
from .timeline import Timeline, timeline
from .waits import Waits, waits
from .work import Work, devices

if TYPE_CHECKING:
    from .checklist import Check

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
    gpus: tuple[Known, ...]
    operators: tuple[Operators, ...]
    geometry: tuple[Geometry, ...]
    memory: tuple[Memory, ...]
    diagnoses: tuple[Diagnosis, ...]
    dataloaders: tuple[DataLoader, ...]
    waits: tuple[Waits, ...]
    across: Across | None
    imbalance: tuple[Imbalance, ...]
    findings: tuple[Finding, ...]
    gone_through: tuple[Check, ...] | None = None  # `checks`, where they were asked for before

    @property
    def checks(self) -> tuple[Check, ...]:
        """The check list, gone through with all other answers when it is asked for: that takes as long as some."""
        if self.gone_through is not None:
            return self.gone_through
        from .checklist import checklist
        from .facts import Facts

        return checklist(Facts(**{one.name: getattr(self, one.name) for one in fields(Facts)}))


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
    gpus: list[Known]
    operators: list[Operators]
    geometry: list[Geometry]
    memory: list[Memory]
    diagnoses: list[Diagnosis]
    findings: list[Finding]
    cautions: list[Caution]


def analyze_traces(traces: Sequence[Trace]) -> Analysis:
    """The answers to all questions about traces of one job, one for each rank."""
    found = _Devices(*([] for _ in fields(_Devices)))
    for trace in traces:
        _add_trace(found, trace)
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
        gpus=tuple(found.gpus),
        operators=tuple(found.operators),
        geometry=tuple(found.geometry),
        memory=tuple(found.memory),
        diagnoses=tuple(found.diagnoses),
        dataloaders=loaders,
        waits=tuple(one for trace in traces for one in waits(trace)),
        across=together,
        imbalance=imbalance(stepped),
        findings=drawn_together(drawn),
    )


def _add_trace(found: _Devices, trace: Trace) -> None:
    """What is found of a rank, and of each of its devices."""
    ranges = nested(trace.events)
    launched = operators.launched(ranges)
    known = [gpu_of(trace, device) for device in geometry.devices(trace)]
    one = operators.operators(trace.rank, ranges, launched, _only(known))
    if one is not None:
        found.operators.append(one)
        found.findings += operators.findings(one)
    found.gpus += known
    found.geometry += [shape for gpu in known for shape in geometry.geometry(trace, gpu)]
    found.memory += memory(trace, ranges)
    for work in devices(trace):
        _add_device(found, work, ranges, launched.gpu_total_ns)


def _only(known: Sequence[Known]) -> Known | None:
    """The GPU of all devices of a rank, where they have the same."""
    gpus = {one.key for one in known}
    return known[0] if len(gpus) == 1 else None


def _add_device(found: _Devices, work: Work, ranges: Nested, gpu_ns: Column) -> None:
    times, named = overlap(work), kernels(work)
    idle, launched, moved = gaps.gaps(work, LONGEST), launches.launches(work), copies.copies(work)
    why = diagnosis.diagnose(work, times, idle, ranges, gpu_ns)
    shapes = tuple(one for one in found.geometry if (one.rank, one.device) == (times.rank, times.device))
    found.overlaps.append(times)
    found.timelines.append(timeline(work, SLICES))
    found.kernels += named
    found.families += families(named)
    found.idle += idle.idle
    found.gaps += idle.longest
    found.launches.append(launched)
    found.copies += moved
    found.diagnoses.append(why)
    found.findings += [
        *diagnosis.findings(why), *copies.findings(moved, times.span_ns), *findings(times),
        *geometry.findings(shapes, times.span_ns),
    ]  # fmt: skip
    found.cautions += _of(
        work.trace, [*launches.cautions(launched), *plausible.overlong(work), *plausible.torn(times, _longest(idle))]
    )


def _longest(found: gaps.Gaps) -> int:
    return max((gap.dur_ns for gap in found.longest), default=0)


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
    yield from plausible.strangers(traces)
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
    yield from _unseen_work(found)
    if found.gaps and not any(_has_stacks(trace) for trace in traces):
        yield Unseen(question="Python in gaps", reason="no stacks were recorded; right would be with_stack=True")
    if not stepped:
        yield Unseen(question="steps", reason="no marks of steps, and no kernels that repeat evenly")
    if together is not None and not any(one.bytes for one in together.collectives):
        yield Unseen(question="bandwidth of collectives", reason="the traces do not say what they moved")
    if together is None and (len(traces) > 1 or any(one.collectives for one in found.overlaps)):
        yield Unseen(question="collectives across ranks", reason=_why_alone(traces))


def _unseen_work(found: _Devices) -> Iterator[Unseen]:
    """What is missing of operators, rooflines, geometry and memory, where there is GPU work to ask about."""
    if not found.overlaps:
        return
    for reason in dict.fromkeys(one.reason for one in found.gpus if one.reason):
        yield Unseen(question="rooflines, waves and occupancy", reason=reason)
    if not found.operators:
        yield Unseen(question="operators", reason="none were recorded; right would be activities of the CPU too")
    elif not any(one.shapes for rank in found.operators for one in rank.operators):
        yield Unseen(question="FLOP and bytes", reason="no shapes were recorded; right would be record_shapes=True")
    if not found.geometry and any(one.kernels > one.collectives for one in found.overlaps):
        yield Unseen(question="waves and occupancy", reason="the trace has no launch geometry with registers")
    if not found.memory:
        yield Unseen(question="memory", reason="no allocations were recorded; right would be profile_memory=True")
    for one in found.memory:
        if not one.holders and not one.is_host and one.changes:
            yield Unseen(question="which operators hold memory", reason="allocations have no addresses in this trace")
            return


def _has_stacks(trace: Trace) -> bool:
    """Whether frames of Python are in the file, or it is of a format that has none."""
    return trace.format != "kineto" or len(trace.events.of(Kind.PYTHON)) > 0


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
