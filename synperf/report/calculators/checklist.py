"""The check list of a description, as text, as JSON and drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ...analysis.checklist import FAIL, PASS, UNKNOWN
from ...calculators.checklist import Checklist, Item
from ..charts import bars
from ..text import paragraphs, section, table

_HEADS = ("", "group", "item", "reason")
_MARKS = {PASS: "ok", FAIL: "FAIL", UNKNOWN: "?"}


def to_dict(found: Checklist) -> dict[str, Any]:
    """Every field."""
    return asdict(found)


def to_text(found: Checklist) -> str:
    """What fails and passes; of what is unknown the count alone, as `--json` has all."""
    known = [one for one in found.checks if one.state != UNKNOWN]
    rows = [_row(one) for state in (FAIL, PASS) for one in known if one.state == state]
    head = f"{found.failed} fail, {found.passed} pass, {found.unknown} unknown of {len(found.checks)}"
    return paragraphs(head, table(_HEADS, rows) if rows else "", section("advice", found.advice))


def _row(one: Item) -> tuple[str, ...]:
    title = one.title if one.kind == "item" else f"trap: {one.title}"
    return (_MARKS[one.state], one.group, title, one.reason)


def to_svg(found: Checklist) -> str:
    """How many of each group pass and fail."""
    groups = dict(_groups(found))
    most = max(sum(one.group == group for one in found.checks) for group in groups)
    return bars.stacked("Check list; grey: unknown", (PASS, FAIL), groups, words=found.why, most=most)


def _groups(found: Checklist) -> Iterator[tuple[str, list[float]]]:
    for group in dict.fromkeys(one.group for one in found.checks):
        states = [one.state for one in found.checks if one.group == group]
        yield group, [float(states.count(state)) for state in (PASS, FAIL)]
