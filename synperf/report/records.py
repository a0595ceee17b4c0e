"""Counters of kernels, logs and memory timelines as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch
from typing import Any

from ..analysis.ncu import Counted, NcuAnalysis
from ..traces.events import Caution
from ..traces.records.memory_timeline import Category, MemoryTimeline
from ..traces.records.nccl_debug import NcclDebug
from ..traces.records.nccl_tests import NcclTests, Timed
from ..traces.records.training_log import Iteration, TrainingLog
from ..units import format_percent, format_quantity, format_time
from .jsonout import plain
from .text import counted, labelled, paragraphs, printable, section, table

_ROWS = 12  # of a table on the first screen
_KERNELS = 6
_STALLS = 4


def to_dict(found: Sequence[Any]) -> dict[str, Any]:
    """Every number, in SI units, by the kind of each result."""
    return {"records": [{"kind": type(one).__name__, **plain(one)} for one in found]}


def to_text(found: Sequence[Any]) -> str:
    """One screen for each: warnings, then numbers, then what to do."""
    text = paragraphs(*(part for one in found for part in _parts(one)))
    return "\n".join(map(printable, text.split("\n")))


@singledispatch
def _parts(one: Any) -> Iterator[str]:
    raise TypeError(f"no text for {type(one).__name__}")


def _warnings(cautions: Sequence[Caution]) -> str:
    return section("warnings", map(_caution, cautions))


def _caution(one: Caution) -> str:
    count = [] if one.count is None else [f"{one.count:,}"]
    share = [] if one.share is None else [format_percent(one.share)]
    return one.text + (f" ({', '.join((*count, *share))})" if count or share else "")


def _more(rows: int, shown: int) -> str:
    return f"{rows - shown:,} more with --json" if rows > shown else ""


@_parts.register
def _(one: NcuAnalysis) -> Iterator[str]:
    yield f"{one.source}: counters of {counted(len(one.kernels), 'kernel')}"
    yield _warnings(one.cautions)
    for kernel in one.kernels[:_KERNELS]:
        yield from _kernel(kernel)
    yield _more(len(one.kernels), _KERNELS)


def _kernel(one: Counted) -> Iterator[str]:
    times = f", {counted(one.invocations, 'invocation')}" if one.invocations > 1 else ""
    yield f"{one.kernel}\n{labelled(_numbers(one))}" + (f"\n{times.removeprefix(', ')}" if times else "")
    yield section("could not look", one.not_counted)
    yield section("findings", _findings(one))


def _numbers(one: Counted) -> Iterator[tuple[str, str]]:
    found = one.counters
    yield "launch", " of ".join(part for part in (one.grid, one.block) if part)
    yield "time", "" if one.time_s is None else format_time(one.time_s)
    if found.speed is not None:
        yield (
            "of peak",
            f"compute {format_percent(found.speed.compute_share)}, memory {format_percent(found.speed.memory_share)}",
        )
    if found.occupancy is not None:
        known = [("theoretical", found.occupancy.theoretical), ("achieved", found.occupancy.achieved)]
        limited = f"; limited by {' and '.join(found.occupancy.limiters)}" if found.occupancy.limiters else ""
        yield "occupancy", _shares(known) + limited
    if found.scheduler is not None:
        known = [
            ("active", found.scheduler.active),
            ("eligible", found.scheduler.eligible),
            ("issued", found.scheduler.issued),
        ]
        yield (
            "scheduler",
            ", ".join(f"{value:.3g} {name}" for name, value in known if value is not None) + " warps a cycle",
        )
    yield "stalls", _shares([(stall.reason, stall.share) for stall in found.stalls[:_STALLS]])
    for access in found.accesses:
        sectors = "" if access.sectors_per_request is None else f"{access.sectors_per_request:.3g} sectors a request"
        used = "" if access.efficiency is None else f"{format_percent(access.efficiency)} of the bytes used"
        yield f"global {access.direction}s", ", ".join(part for part in (sectors, used) if part)
    for conflicts in found.conflicts:
        yield (
            f"shared {conflicts.direction}s",
            f"{format_percent(conflicts.share)} of the wavefronts are bank conflicts",
        )
    yield "pipes", _shares([(pipe.name, pipe.share) for pipe in found.pipes[:_STALLS]])
    yield "hit rates", _shares(list(found.hit_rates.items()))
    yield "lanes", "" if found.lanes_share is None else f"{format_percent(found.lanes_share)} of a warp active"


def _shares(named: Sequence[tuple[str, float | None]]) -> str:
    return ", ".join(f"{name} {format_percent(share)}" for name, share in named if share is not None)


def _findings(one: Counted) -> Iterator[str]:
    for number, finding in enumerate(one.findings, 1):
        yield f"{number}. {finding.title}"
        yield from (f"   {line}" for line in (finding.evidence, finding.advice))


@_parts.register
def _(one: NcclTests) -> Iterator[str]:
    gpus = f", {len(one.devices)} x {', '.join(dict.fromkeys(one.devices))}" if one.devices else ""
    yield (
        f"{one.source}: {one.library} {one.version}".rstrip() + (f", {one.collective}" if one.collective else "") + gpus
    )
    yield _warnings(one.cautions)
    rows = [row for row in one.rows if row.size_bytes]
    heads = ("size", "time", "algbw", "busbw", "in place", "busbw in place")
    shown = [
        (
            format_quantity(row.size_bytes, "B"),
            *_timed(row.out_of_place),
            *(_timed(row.in_place)[::2] if row.in_place else ("", "")),
        )
        for row in rows[-_ROWS:]
    ]
    yield table(heads, shown, heads) if shown else ""
    best = one.max_busbw_bytes_per_s
    average = one.avg_busbw_bytes_per_s
    yield labelled(
        (
            ("largest busbw", "" if best is None else format_quantity(best, "B/s")),
            (
                "average busbw",
                "" if average is None else f"{format_quantity(average, 'B/s')}, small sizes included, as the log says",
            ),
        )
    )
    yield _more(len(rows), _ROWS)


def _timed(one: Timed) -> tuple[str, str, str]:
    time = "" if one.time_s is None else format_time(one.time_s)
    return time, _rate(one.algbw_bytes_per_s), _rate(one.busbw_bytes_per_s)


def _rate(value: float | None) -> str:
    return "" if value is None else format_quantity(value, "B/s")


@_parts.register
def _(one: TrainingLog) -> Iterator[str]:
    planned = "" if one.planned is None else f" of {one.planned:,}"
    yield f"{one.source}: {one.framework}, {counted(len(one.iterations), 'iteration')}{planned}"
    yield _warnings(one.cautions)
    peak = "" if one.peak_memory_bytes is None else format_quantity(one.peak_memory_bytes, "B")
    medians = [(f"median {name}", _quantity(field, one.median(field))) for field, name in _FIELDS.items()]
    yield labelled([*medians, ("peak memory", peak)])
    told = {field: name for field, name in _FIELDS.items() if one.median(field) is not None}
    yield table(
        ("iteration", *told.values()), [_iteration(row, told) for row in one.iterations[-_ROWS:]], tuple(told.values())
    )
    yield _more(len(one.iterations), _ROWS)


_FIELDS = {
    "time_s": "time", "flop_per_s": "FLOP/s of a GPU", "mfu": "MFU", "tokens_per_s": "tokens/s",
    "samples_per_s": "samples/s", "memory_bytes": "memory",
}  # fmt: skip


def _quantity(field: str, value: float | None) -> str:
    if value is None:
        return ""
    if field == "time_s":
        return format_time(value)
    if field == "mfu":
        return format_percent(value)
    return format_quantity(value, {"flop_per_s": "FLOP/s", "memory_bytes": "B"}.get(field, ""))


def _iteration(row: Iteration, told: Mapping[str, str]) -> tuple[str, ...]:
    return (f"{row.iteration:,}", *(_quantity(field, getattr(row, field)) for field in told))


@_parts.register
def _(one: NcclDebug) -> Iterator[str]:
    yield f"{one.source}: {one.library} {one.version}".rstrip()
    yield _warnings(one.cautions)
    yield labelled(
        (
            (
                "communicators",
                ", ".join(f"{c.ranks} ranks ({c.complete} of {c.begun} complete)" for c in one.communicators),
            ),
            ("network", ", ".join(one.networks)),
            ("channels", "" if one.channels is None else str(one.channels)),
            ("ring 0", " ".join(map(str, one.rings.get(0, ())))),
            ("links", ", ".join(f"{count:,} {name}" for name, count in one.links.items())),
            ("settings", ", ".join(f"{name}={value}" for name, value in one.settings.items())),
        )
    )
    rows = [
        (
            choice.collective, format_quantity(choice.bytes, "B"), choice.algorithm, choice.protocol,
            f"{choice.count:,}", "" if choice.expected_s is None else format_time(choice.expected_s),
        )
        for choice in one.choices
    ]  # fmt: skip
    heads = ("collective", "size", "algorithm", "protocol", "calls", "expected")
    yield table(heads, rows[:_ROWS], ("size", "calls", "expected")) if rows else ""
    yield _more(len(rows), _ROWS)
    yield section("what the library warns of", (f"{text} ({count:,})" for text, count in one.warnings.items()))


@_parts.register
def _(one: MemoryTimeline) -> Iterator[str]:
    yield f"{one.source}: memory timeline of torch, {counted(one.entries, 'change')}"
    yield _warnings(one.cautions)
    sizes = (("peak", one.peak_bytes), ("at the end", one.end_bytes))
    yield labelled((name, format_quantity(size, "B")) for name, size in sizes)
    rows = [
        (c.name, format_quantity(c.at_peak_bytes, "B"), _share(c, one.peak_bytes), format_quantity(c.peak_bytes, "B"))
        for c in one.categories
    ]
    heads = ("category", "at the peak", "share", "own peak")
    yield table(heads, rows, heads[1:])


def _share(one: Category, peak_bytes: int) -> str:
    return format_percent(one.at_peak_bytes / peak_bytes) if peak_bytes else ""
