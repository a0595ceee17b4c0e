"""Where the time of a trace went, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..analysis.classify import version
from ..analysis.finding import Finding
from ..analysis.gaps import CAUSES
from ..analysis.overlap import Overlap
from ..analysis.steps import Steps
from ..analysis.whole import Analysis, Source
from ..traces.events import Caution
from ..units import format_percent, format_time
from .jsonout import plain
from .text import counted, paragraphs, section, table

_NS = 1e-9
_ROWS = 8  # of a table on the first screen
_NAME = 60  # letters of a name on the first screen
_TIMES = ("span", "busy", "compute", "exposed copy", "exposed comm", "idle")


def to_dict(found: Analysis) -> dict[str, Any]:
    """Every number; times are whole nanoseconds."""
    return {
        "source": {"files": plain(found.sources), "kernel_families_version": version()},
        "warnings": plain(found.cautions),
        "not_seen": plain(found.unseen),
        "ranks": [_device(found, one) for one in found.overlaps],
        "steps": [plain(step) for steps in found.steps for step in steps.steps],
        "step_times": [_step_times(steps) for steps in found.steps],
        "families": plain(found.families),
        "kernels": plain(found.kernels),
        "idle": plain(found.idle),
        "gaps": plain(found.gaps),
        "launches": plain(found.launches),
        "copies": plain(found.copies),
        "dataloader": plain(found.dataloaders),
        "collectives": plain(found.across.collectives) if found.across else [],
        "late_ranks": plain(found.across.late) if found.across else [],
        "imbalance": plain(found.imbalance),
        "findings": plain(found.findings),
    }


def _device(found: Analysis, one: Overlap) -> dict[str, Any]:
    shown: dict[str, Any] = plain(one)
    return {**shown, "hidden_comm_share": one.hidden_comm_share, "gpu": _gpu(found.sources, one)}


def _gpu(sources: Sequence[Source], one: Overlap) -> str | None:
    """The name of the device: by its number, or the only name there is (ROCm numbers differ)."""
    listed = [device for source in sources if source.rank == one.rank for device in source.devices]
    names = {device.name for device in listed if device.number == one.device} or {device.name for device in listed}
    return names.pop() if len(names) == 1 else None


def _step_times(found: Steps) -> dict[str, Any]:
    return {
        "rank": found.rank, "found_by": found.found_by, "count": len(found.steps), "median_ns": found.median_ns,
        "spread": found.spread, "slow": [step.name for step in found.steps if step.is_slow],
    }  # fmt: skip


def to_text(found: Analysis) -> str:
    """One screen: warnings, the times of each device, steps, idle time, kernels, gaps, collectives, findings."""
    shown = paragraphs(
        "\n".join(_head(one) for one in found.sources),
        section("warnings", map(_caution, found.cautions)),
        section("could not look", (f"{one.question}: {one.reason}" for one in found.unseen)),
        _times(found),
        _steps(found),
        _loaders(found),
        _families(found),
        _idle(found),
        _gaps(found),
        _late(found),
        section("findings", _findings(found)),
    )
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in shown)  # names may hold any


def _head(one: Source) -> str:
    rank = "" if one.rank is None else f", rank {one.rank}" + (f" of {one.world_size}" if one.world_size else "")
    gpus = ", ".join(dict.fromkeys(device.name for device in one.devices if device.name))
    return f"{one.file}: {one.format}{rank}, {counted(one.events, 'event')}" + (f", {gpus}" if gpus else "")


def _caution(one: Caution) -> str:
    numbers = [] if one.count is None else [f"{one.count:,}"]
    numbers += [] if one.share is None else [format_percent(one.share)]
    return f"{one.text} ({', '.join(numbers)})" if numbers else one.text


def _time(value_ns: float) -> str:
    return format_time(value_ns * _NS)


def _times(found: Analysis) -> str:
    if not found.overlaps:
        return ""
    rows = []
    for one in found.overlaps:
        values = (one.span_ns, one.busy_ns, one.compute_ns, one.exposed_copy_ns, one.exposed_comm_ns, one.idle_ns)
        share = format_percent(one.idle_ns / one.span_ns) if one.span_ns else ""
        rows.append((_rank(one.rank), str(one.device), *map(_time, values), share, f"{one.kernels:,}"))
    heads = ("rank", "device", *_TIMES, "idle %", "kernels")
    return table(heads, rows, heads)


def _steps(found: Analysis) -> str:
    rows = [_step_row(one) for one in found.steps]
    heads = ("rank", "steps", "found by", "median", "spread", "slow")
    return table(heads, rows, ("rank", "steps", "median", "spread")) if rows else ""


def _step_row(found: Steps) -> tuple[str, ...]:
    slow = ", ".join(f"{step.name} {_time(step.dur_ns)}" for step in found.steps if step.is_slow)
    spread = format_percent(found.spread) if len(found.steps) > 1 else ""
    return _rank(found.rank), str(len(found.steps)), found.found_by, _time(found.median_ns), spread, _short(slow)


def _rank(rank: int | None) -> str:
    return "" if rank is None else str(rank)


def _loaders(found: Analysis) -> str:
    """Waits for the DataLoader, of the rank that waits most."""
    if not found.dataloaders:
        return ""
    one = max(found.dataloaders, key=lambda loader: loader.total_ns)
    of = "" if len(found.dataloaders) == 1 else f" on rank {one.rank}, which waits most"
    waits = f"{counted(one.count, 'wait')} of {_time(one.total_ns)} in all{of}"
    return f"DataLoader: {waits}, {format_percent(one.share)} of the trace"


def _families(found: Analysis) -> str:
    """Families over all devices."""
    names = dict.fromkeys(one.family for one in found.families)
    sums = {name: [(f.total_ns, f.count) for f in found.families if f.family == name] for name in names}
    totals = sorted(((sum(t for t, _ in s), sum(c for _, c in s), name) for name, s in sums.items()), reverse=True)
    whole = sum(total for total, _, _ in totals)
    rows = [(name, f"{count:,}", _time(total), format_percent(total / whole)) for total, count, name in totals if whole]
    heads = ("kernels", "count", "total", "share")
    return table(heads, rows[:_ROWS], heads[1:]) if rows else ""


def _idle(found: Analysis) -> str:
    """Causes of idle time over all devices."""
    sums = {name: [one for one in found.idle if one.cause == name] for name in CAUSES}
    totals = sorted(((sum(one.total_ns for one in ones), name) for name, ones in sums.items() if ones), reverse=True)
    counts = {name: sum(one.count for one in ones) for name, ones in sums.items()}
    rows = [(name, f"{counts[name]:,}", _time(total), CAUSES[name]) for total, name in totals]
    return table(("idle", "gaps", "total", "because"), rows, ("gaps", "total")) if rows else ""


def _gaps(found: Analysis) -> str:
    longest = sorted(found.gaps, key=lambda gap: -gap.dur_ns)[: _ROWS // 2]
    zero = {(one.rank, one.device): one.start_ns for one in found.overlaps}
    rows = []
    for gap in longest:
        at = _time(gap.start_ns - zero[gap.rank, gap.device])
        rows.append((_time(gap.dur_ns), at, gap.cause, _short(gap.operator), _short(gap.python)))
    return table(("longest gaps", "at", "cause", "host in", "Python"), rows, ("at",)) if rows else ""


def _short(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def _late(found: Analysis) -> str:
    if found.across is None or not found.across.late:
        return ""
    whole = len(found.across.collectives)
    rows = [
        (str(one.rank), f"{one.times_last} of {whole}", _time(one.others_waited_ns), _time(one.delay_ns))
        for one in found.across.late
    ]
    heads = ("late rank", "last at", "others waited", "behind the next")
    return table(heads, rows, heads[1:])


def _saving(found: Analysis, one: Finding) -> str:
    """What a finding could return, of all and of a step where there are several."""
    if one.saving_ns is None:
        return ""
    count = next((len(steps.steps) for steps in found.steps if steps.rank == one.rank), 1)
    step = f", {_time(one.saving_ns / count)} a step" if count > 1 else ""
    return f", up to {_time(one.saving_ns)}{step}"


def _findings(found: Analysis) -> Iterator[str]:
    for number, one in enumerate(found.findings[:_ROWS], 1):
        rank = "" if one.rank is None or len(found.sources) == 1 else f" (rank {one.rank})"
        yield f"{number}. {one.title}{rank}{_saving(found, one)}"
        yield from (f"   {line}" for line in (one.evidence, one.advice))
    left = len(found.findings) - _ROWS
    if left > 0:
        yield f"{left} more with --json"
