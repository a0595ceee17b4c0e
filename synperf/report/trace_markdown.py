"""Where the time of a trace went, as Markdown for an issue or a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..analysis.whole import Analysis
from . import trace_tables as tables
from . import trace_work_tables as work_tables
from .text import paragraphs
from .trace_columns import Table
from .trace_lines import caution, five, head, loader, titled, unseen, verdict, waited

_ROWS = 20  # of a table
_MARKS = re.compile(r"([\\`*_|<>\[\]#])")
_TABLES = (
    tables.times, tables.step_times, tables.families, tables.idle, tables.gaps, tables.late, tables.collectives,
    tables.imbalance, tables.copies, tables.launches, tables.kernels, *work_tables.TABLES,
)  # fmt: skip


def to_markdown(found: Analysis) -> str:
    """The verdict, warnings, five numbers, findings, then every table."""
    made = [make(found) for make in _TABLES]
    return paragraphs(
        "# Where the time went",
        _list(map(head, found.sources)),
        f"**{_plain(verdict(found))}**",
        _titled("Warnings", _list(map(caution, found.cautions))),
        _titled("Could not look", _list(map(unseen, found.unseen))),
        _list(f"{one.name}: {one.shown}, {one.word}" for one in five(found)),
        _plain(loader(found)),
        _plain(waited(found)),
        _titled("Findings", "\n".join(_findings(found))),
        *(_titled(one.title, _table(one)) for one in made),
    )


def _plain(text: str) -> str:
    """Text in which nothing is a mark of Markdown, on one line."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {_plain(line)}" for line in lines)


def _titled(title: str, content: str) -> str:
    return f"## {title}\n\n{content}" if content else ""


def _findings(found: Analysis) -> Iterator[str]:
    for number, one in enumerate(found.findings, 1):
        yield f"{number}. **{_plain(titled(one, found))}**: {_plain(one.evidence)}. {_plain(one.advice)}"


def _table(of: Table) -> str:
    if not of.rows:
        return ""
    of = of.filled()
    marks = ["---:" if column.is_number else "---" for column in of.columns]
    lines = [_line(map(_plain, of.heads)), _line(marks), *(_line(map(_plain, row)) for row in of.shown(_ROWS))]
    left = len(of.rows) - _ROWS
    more = [f"\n{left:,} more with `--json`."] if left > 0 else []
    return "\n".join([*lines, *more])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
