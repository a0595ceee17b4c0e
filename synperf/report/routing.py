"""How the rows of an expert layer fall on its experts, as labelled lines."""

from __future__ import annotations

from ..explanation import Explanation


def lines(x: Explanation) -> list[tuple[str, str]]:
    """The busiest rank, its experts, and what padding adds; nothing for families without experts."""
    f = x.launch.facts
    if "rank_rows" not in f:
        return []
    rank = f"{f['rank_rows']:,.4g} rows, {f['rank_rows_over_mean']:.3g} times the mean of the ranks"
    hottest = f"{f['hottest_expert_rows']:,.4g} rows, {f['hottest_over_mean']:.3g} times the mean of those with any"
    return [
        ("busiest rank", rank),
        ("experts", f"{f['active_experts']:,.4g} of {f['rank_experts']:,.0f} have rows"),
        ("hottest one", hottest),
        ("row padding", f"{f['padded_rows']:,.4g} rows in whole tiles, {f['row_padding']:.3g} times the rows"),
    ]
