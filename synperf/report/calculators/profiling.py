"""Tools by bottleneck and what profiling costs, as text, as JSON and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...calculators.profiling import Profiling, Replay
from ...units import format_time
from ..charts import bars, cells
from ..known import known
from ..text import labelled, paragraphs, section, table


def to_dict(found: Profiling) -> dict[str, Any]:
    """Every field that has a value."""
    return known(found)


def to_text(found: Profiling) -> str:
    """Where to look for each bottleneck, the cost, why, and advice."""
    return paragraphs(_which(found), _cost(found), section("why", found.why), section("advice", found.advice))


def _which(found: Profiling) -> str:
    if len(found.bottlenecks) > 1:
        rows = ((one.key, one.means, ", ".join(tool.name for tool in one.tools)) for one in found.bottlenecks)
        return table(("bottleneck", "means", "tools"), rows)
    one = found.bottlenecks[0]
    return labelled(
        [
            (one.key, one.means),
            ("tools", ", ".join(tool.name for tool in one.tools)),
            ("look at", one.look),
            ("here", one.here),
        ]
    )


def _cost(found: Profiling) -> str:
    if found.replay is None:
        return ""
    one = found.replay
    return labelled(
        [
            ("without", f"{format_time(one.plain_s)} on the GPU"),
            ("profiled", f"{format_time(one.total_s)} in {one.passes} passes, {one.slowdown:.3g} times as long"),
            ("of which", f"{format_time(one.restore_s)} put memory back"),
        ]
    )


def to_svg(found: Profiling) -> str:
    """What counters cost, where that was asked for; else which tool shows which bottleneck."""
    return _tools(found) if found.replay is None else _times(found.replay, found.why[:1] + found.advice)


def _times(one: Replay, words: Sequence[str]) -> str:
    times = {"without": [one.plain_s, 0.0], "profiled": [one.total_s - one.restore_s, one.restore_s]}
    return bars.stacked("Time on the GPU", ("kernels", "putting memory back"), times, format_time, words)


def _tools(found: Profiling) -> str:
    keys = list({tool.key: None for one in found.bottlenecks for tool in one.tools})
    rows = [(one.key, [_cell([tool.key for tool in one.tools], key) for key in keys]) for one in found.bottlenecks]
    return cells.draw("Tools by bottleneck", ("shows it first", "shows it too"), rows, keys, found.advice)


def _cell(tools: Sequence[str], key: str) -> cells.Cell:
    if key not in tools:
        return cells.Cell()
    return cells.Cell("1", 0) if tools[0] == key else cells.Cell("2", 1)
