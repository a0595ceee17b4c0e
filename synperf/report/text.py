"""Building blocks of plain text: aligned tables, labelled lines, lists. No colours, so that a pipe sees the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from textwrap import wrap

from ..units import format_percent

_GAP = "  "
_WIDE = 116


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> str:
    """Columns of one width each; those whose heads are in `right` are aligned to the right."""
    lines = [list(heads), *(list(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip_longest(*lines, fillvalue="")]
    return "\n".join(_row(line, heads, widths, right) for line in lines)


def _row(cells: Sequence[str], heads: Sequence[str], widths: Sequence[int], right: Sequence[str]) -> str:
    aligned = [
        cell.rjust(width) if head in right else cell.ljust(width)
        for cell, head, width in zip(cells, heads, widths, strict=True)
    ]
    return _GAP.join(aligned).rstrip()


def printable(line: str) -> str:
    """A line with `?` for each letter by which it could steer a terminal, or end."""
    return line if line.isprintable() else "".join(letter if letter.isprintable() else "?" for letter in line)


def share_full(share: float) -> str:
    """How full something is that is never empty: `<0.01 %` where digits would say 0."""
    return format_percent(share) if share >= 1e-4 else "<0.01 %"


def number(value: float) -> str:
    """A count that need not be whole: four digits, or all before the point: `31.03`, `2,048`, `29,274`."""
    return f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"


def counted(count: float, noun: str) -> str:
    """`1 tile`, `31.03 tiles`, `4,096 tiles`."""
    return f"{number(count)} {noun}" if count == 1 else f"{number(count)} {noun}s"


def labelled(pairs: Iterable[tuple[str, str]]) -> str:
    """One line per pair, the texts one below the other; pairs without text are left out."""
    kept = [(label, text) for label, text in pairs if text]
    width = max((len(label) for label, _ in kept), default=0)
    return "\n".join(f"{label.ljust(width)}{_GAP}{text}" for label, text in kept)


def section(head: str, lines: Iterable[str]) -> str:
    """A head and its lines below it, indented; nothing where there are none."""
    found = [f"{_GAP}{line}" for line in lines]
    return "\n".join([head, *found]) if found else ""


def sentences(head: str, lines: Iterable[str]) -> str:
    """As `section`, of sentences that are wrapped where they are longer than a screen is wide."""
    return section(
        head, (part for line in lines for part in wrap(line, _WIDE, subsequent_indent=_GAP, break_on_hyphens=False))
    )


def paragraphs(*parts: str) -> str:
    """Parts with a blank line between them; empty ones are left out."""
    return "\n\n".join(part for part in parts if part)
