"""The answers about a trace as sentences, for text, Markdown and the page alike."""

from __future__ import annotations

from typing import NamedTuple

from ..analysis.finding import Finding
from ..analysis.gaps import CAUSES
from ..analysis.memory import Memory
from ..analysis.whole import Analysis, Source, Unseen
from ..traces.events import Caution
from ..units import format_percent
from .text import counted
from .trace_columns import share, size, time
from .trace_tables import families, idle

_TOLD = 0.01  # share of the time below which the verdict is silent
_WORTH = 0.05  # share of the span from which waits of the host are told
_VERBS = {
    True: {
        "compute_ns": "computes for",
        "exposed_copy_ns": "only copies for",
        "exposed_comm_ns": "only communicates for",
        "idle_ns": "is idle for",
    },
    False: {
        "compute_ns": "compute for",
        "exposed_copy_ns": "only copy for",
        "exposed_comm_ns": "only communicate for",
        "idle_ns": "are idle for",
    },
}
_FIVE = {
    "span_ns": "total",
    "compute_ns": "compute",
    "idle_ns": "idle",
    "exposed_comm_ns": "exposed communication",
}
_TOP = "top category"


def head(one: Source) -> str:
    """What a file is."""
    rank = "" if one.rank is None else f", rank {one.rank}" + (f" of {one.world_size}" if one.world_size else "")
    gpus = ", ".join(dict.fromkeys(device.name for device in one.devices if device.name))
    return f"{one.file}: {one.format}{rank}, {counted(one.events, 'event')}" + (f", {gpus}" if gpus else "")


def caution(one: Caution) -> str:
    """A warning, with the number and the share of what it is about."""
    numbers = [] if one.count is None else [f"{one.count:,}"]
    numbers += [] if one.share is None else [format_percent(one.share)]
    return f"{one.text} ({', '.join(numbers)})" if numbers else one.text


def unseen(one: Unseen) -> str:
    """A question that is not answered, and why."""
    return f"{one.question}: {one.reason}"


def loader(found: Analysis) -> str:
    """Waits for the DataLoader, of the rank that waits most."""
    if not found.dataloaders:
        return ""
    one = max(found.dataloaders, key=lambda loader: loader.total_ns)
    of = "" if len(found.dataloaders) == 1 else f" on rank {one.rank}, which waits most"
    waits = f"{counted(one.count, 'wait')} of {time(one.total_ns)} in all{of}"
    return f"DataLoader: {waits}, {format_percent(one.share)} of the trace"


def waited(found: Analysis) -> str:
    """Waits in the call that synchronises for longest, where they are worth a word, and whether the GPU worked."""
    span = max((one.span_ns for one in found.overlaps), default=0)
    one = max(found.waits, key=lambda waits: waits.total_ns, default=None)
    if one is None or one.total_ns < _WORTH * span:
        return ""
    rank = "" if len(found.sources) == 1 or one.rank is None else f" on rank {one.rank}, which waits most"
    head = f"{one.name}: {counted(one.count, 'wait')} of {time(one.total_ns)} in all{rank}"
    worked = share(one.worked_ns / one.total_ns)
    won = "that is the time of kernels and copies, and is not won by leaving the call out"
    return f"{head}; in {worked} of it the GPU worked: {won}"


def memory_caption(one: Memory) -> str:
    """Whose memory it is, its peak, and what the allocator had reserved then."""
    rank = "" if one.rank is None else f"rank {one.rank}, "
    where = "host" if one.is_host else f"device {one.device}"
    reserved = "" if not one.reserved_bytes else f", of {size(one.reserved_bytes)} reserved"
    counts = "" if one.is_absolute else ", counted from the begin of the recording"
    at = time(one.peak_ns - one.start_ns)
    return f"{rank}{where}, at most {size(one.peak_bytes)} at {at}{reserved}{counts}"


def titled(one: Finding, found: Analysis) -> str:
    """A finding's title, with the rank where there are several, and what it could return."""
    is_said = one.rank is None or len(found.sources) == 1 or f"rank {one.rank} " in one.title.lower()
    rank = "" if is_said else f" (rank {one.rank})"
    return f"{one.title}{rank}{_saving(found, one)}"


def _saving(found: Analysis, one: Finding) -> str:
    """What a finding could return, of all and of a step where there are several."""
    if one.saving_ns is None:
        return ""
    count = next((len(steps.steps) for steps in found.steps if steps.rank == one.rank), 1)
    step = f", {time(one.saving_ns / count)} a step" if count > 1 else ""
    return f", up to {time(one.saving_ns)}{step}"


def verdict(found: Analysis) -> str:
    """What the devices did with their time in one sentence, and why they did not compute in another."""
    span = sum(one.span_ns for one in found.overlaps)
    if not span:
        return "The trace has no GPU work to judge."
    one = len(found.overlaps) == 1
    sums = {key: sum(getattr(device, key) for device in found.overlaps) for key in _VERBS[one]}
    said = [f"{_VERBS[one][key]} {share(value / span)}" for key, value in sums.items() if value / span >= _TOLD]
    who = "The GPU" if one else f"{len(found.overlaps)} GPUs"
    why = _late(found) if sums["exposed_comm_ns"] > sums["idle_ns"] else ""
    return f"{who} {_and(said)} of the time.{why or _idle(found, span)}"


def _late(found: Analysis) -> str:
    """The rank that the others wait for."""
    if found.across is None or not found.across.late:
        return ""
    one, whole = found.across.late[0], counted(len(found.across.collectives), "collective")
    waited = f"the others wait {time(one.others_waited_ns)} for it"
    return f" Rank {one.rank} is the last to arrive at {one.times_last} of {whole}; {waited}."


def _idle(found: Analysis, span: int) -> str:
    """The cause of most idle time."""
    for cause, _, total, _ in idle(found).rows[:1]:
        if total / span >= _TOLD:
            return f" The largest part of the idle time, {time(total)}: {CAUSES[cause]}."
    return ""


def _and(parts: list[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


class Line(NamedTuple):
    """One of the five: a time, which is None where nothing was recorded, as text, and a word on it."""

    name: str
    value_ns: int | None
    shown: str
    word: str


def five(found: Analysis) -> list[Line]:
    """Total time, compute, idle, exposed communication and the top category, over all devices."""
    if not found.overlaps:
        return [Line(name, None, "unknown", "no GPU work in the trace") for name in (*_FIVE.values(), _TOP)]
    sums = {key: sum(getattr(one, key) for one in found.overlaps) for key in _FIVE}
    span = sums["span_ns"]
    words = {key: share(value / span if span else None) for key, value in sums.items()}
    words["span_ns"] = f"over {counted(len(found.overlaps), 'device')}"
    if not any(one.collectives for one in found.overlaps):
        words["exposed_comm_ns"] = "no collectives in the trace"
    return [*(Line(name, sums[key], time(sums[key]), words[key]) for key, name in _FIVE.items()), _top(found)]


def _top(found: Analysis) -> Line:
    """The family of kernels that takes most."""
    for family, _, total, part in families(found).rows[:1]:
        return Line(_TOP, total, time(total), f"{family}, {share(part)} of kernels")
    return Line(_TOP, None, "unknown", "no kernels in the trace")
