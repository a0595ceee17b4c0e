"""Where the time of a trace went, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import Any

from ..analysis.classify import version
from ..analysis.finding import named
from ..analysis.gpu_of import name_of
from ..analysis.operators import Operators
from ..analysis.overlap import Overlap
from ..analysis.steps import Steps
from ..analysis.whole import Analysis, Source
from . import trace_tables as tables
from . import trace_work_tables as work_tables
from .jsonout import plain
from .text import paragraphs, printable, section, table
from .trace_columns import Table
from .trace_lines import caution, head, loader, titled, unseen, verdict, waited
from .trace_tables import families, gaps, idle, late, step_times, times

_ROWS = 8  # of a table on the first screen
_WIDE = 118  # letters of a line of words, as wide as the widest table on most traces
_REST = (  # tables that the first screen has no room for
    *work_tables.TABLES, tables.kernels, tables.waits, tables.steps, tables.collectives, tables.imbalance,
    tables.copies, tables.launches,
)  # fmt: skip


def to_dict(found: Analysis) -> dict[str, Any]:
    """Every number; times are whole nanoseconds."""
    return {
        "source": {"files": plain(found.sources), "kernel_families_version": version()},
        "warnings": plain(found.cautions),
        "not_seen": plain(found.unseen),
        "ranks": [_device(found, one) for one in found.overlaps],
        "timeline": plain(found.timelines),
        "steps": [plain(step) for steps in found.steps for step in steps.steps],
        "step_times": [_step_times(steps) for steps in found.steps],
        "families": plain(found.families),
        "kernels": plain(found.kernels),
        "idle": plain(found.idle),
        "gaps": plain(found.gaps),
        "launches": plain(found.launches),
        "copies": plain(found.copies),
        "gpus": plain(found.gpus),
        "operators": [plain(one) for rank in found.operators for one in rank.operators],
        "operator_totals": [_operator_totals(rank) for rank in found.operators],
        "geometry": plain(found.geometry),
        "memory": plain(found.memory),
        "diagnosis": plain(found.diagnoses),
        "checks": plain(found.checks),
        "dataloader": plain(found.dataloaders),
        "waits": plain(found.waits),
        "collectives": plain(found.across.collectives) if found.across else [],
        "late_ranks": plain(found.across.late) if found.across else [],
        "imbalance": plain(found.imbalance),
        "findings": plain(found.findings),
    }


def _device(found: Analysis, one: Overlap) -> dict[str, Any]:
    shown: dict[str, Any] = plain(one)
    return {**shown, "hidden_comm_share": one.hidden_comm_share, "gpu": _gpu(found.sources, one)}


def _gpu(sources: Sequence[Source], one: Overlap) -> str | None:
    """The name of the device."""
    return name_of([device for source in sources if source.rank == one.rank for device in source.devices], one.device)


def _operator_totals(one: Operators) -> dict[str, Any]:
    return {"rank": one.rank, "groups": len(one.operators), "gpu_ns": one.gpu_ns, "untied_ns": one.untied_ns}


def _step_times(found: Steps) -> dict[str, Any]:
    return {
        "rank": found.rank, "found_by": found.found_by, "count": len(found.steps), "median_ns": found.median_ns,
        "spread": found.spread, "slow": [step.name for step in found.steps if step.is_slow],
    }  # fmt: skip


def to_text(found: Analysis, is_full: bool = False) -> str:
    """One screen: the verdict, warnings, times of each device, steps, idle time, kernels, gaps, collectives, findings.

    In full, every row of these, and then all other tables.
    """
    most = None if is_full else _ROWS
    shown = paragraphs(
        "\n".join(_first(map(head, found.sources), most)),
        "\n".join(wrap(verdict(found), _WIDE)),
        section("warnings", _hanging(_first(map(caution, found.cautions), most))),
        section("could not look", _hanging(map(unseen, found.unseen))),
        _table(times(found), most),
        _table(step_times(found), most),
        "\n".join(_hanging([loader(found)])),
        "\n".join(_hanging([waited(found)])),
        _table(families(found), most),
        _table(idle(found), most),
        _table(gaps(found), most and most // 2),
        _table(late(found), most),
        section("findings", _findings(found, most)),
        *([_titled(make(found)) for make in _REST] if is_full else []),
    )
    return "\n".join(map(printable, shown.split("\n")))  # names may hold anything


def _first(lines: Iterable[str], most: int | None) -> list[str]:
    """The first lines, and how many more there are."""
    every = list(lines)
    return [*every[:most], *_more(len(every), most)]


def _more(number: int, most: int | None) -> list[str]:
    return [f"{number - most:,} more with --full"] if most is not None and number > most else []


def _hanging(lines: Iterable[str]) -> Iterator[str]:
    """Lines of words; a long one goes on below itself, indented."""
    return (part for line in lines for part in wrap(line, _WIDE, subsequent_indent="  "))


def _table(of: Table, most: int | None) -> str:
    of = of.filled()
    rows = [
        tuple(named(text) if column.is_name else text for column, text in zip(of.columns, row, strict=True))
        for row in of.shown(most)
    ]
    return "\n".join([table(of.heads, rows, of.right), *_more(len(of.rows), most)]) if rows else ""


def _titled(of: Table) -> str:
    """All rows of a table, under its title, with how they are to be read."""
    return f"{of.title}\n{_table(of, None)}" + (f"\n{of.note}" if of.note else "") if of.rows else ""


def _findings(found: Analysis, most: int | None) -> Iterator[str]:
    for number, one in enumerate(found.findings[:most], 1):
        yield from wrap(f"{number}. {titled(one, found)}", _WIDE, subsequent_indent="   ")
        for line in (one.evidence, one.advice):
            yield from wrap(line, _WIDE, initial_indent="   ", subsequent_indent="   ")
    yield from _more(len(found.findings), most)
