"""Claims in print, as text, as JSON and drawn."""

from __future__ import annotations

from dataclasses import asdict
from textwrap import wrap
from typing import Any

from ...calculators.textbook import VERDICTS, Claim, Figure, Textbook
from ...units import format_percent, format_quantity, format_time
from ..charts import bars
from ..text import number, paragraphs, table

_HEADS = ("", "printed", "exact")
_LIST = ("key", "verdict", "claim")
_WIDTH, _CLAIM = 100, 92


def to_dict(found: Textbook) -> dict[str, Any]:
    """Every field."""
    return asdict(found)


def to_text(found: Textbook) -> str:
    """A line for each of many claims; of a few all that is known."""
    if len(found.claims) > 3:
        head = ", ".join(f"{count} {verdict}" for verdict, count in found.counts.items() if count)
        rows = [(", ".join(one.keys), one.verdict, _clipped(one.claim)) for one in found.claims]
        return paragraphs(
            f"{len(found.claims)} claims: {head}", table(_LIST, rows), "synperf textbook KEY tells the numbers of one"
        )
    return paragraphs(*(part for one in found.claims for part in _whole(one)))


def to_svg(found: Textbook) -> str:
    """How many claims of each topic are right, imprecise, wrong, unsupported."""
    topics = {
        topic: [
            float(sum(one.verdict == verdict for one in found.claims if one.topic == topic)) for verdict in VERDICTS
        ]
        for topic in dict.fromkeys(one.topic for one in found.claims)
    }
    return bars.stacked("Claims in print", VERDICTS, topics)


def _clipped(claim: str) -> str:
    return claim if len(claim) <= _CLAIM else f"{claim[: _CLAIM - 3].rstrip()}..."


def _whole(one: Claim) -> tuple[str, ...]:
    rows = [(figure.name, _told(figure, figure.printed), _told(figure, figure.exact)) for figure in one.figures]
    return (
        f"{', '.join(one.keys)}: {one.verdict}",
        "\n".join(wrap(f'"{one.claim}"', _WIDTH)),
        table(_HEADS, rows, _HEADS[1:]) if rows else "",
        "\n".join(wrap(one.reason, _WIDTH)),
    )


def _told(figure: Figure, value: float | str | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if figure.unit == "share":
        return format_percent(value)
    if figure.unit == "s":
        return format_time(value, 4)
    if figure.unit in ("B", "B/s"):
        return format_quantity(value, figure.unit, 4)
    shown = f"{value:.6f}" if figure.unit == "$" else number(value)
    return f"{shown} {figure.unit}".rstrip()
