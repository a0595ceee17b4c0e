"""A plan of what is to be timed, and what a collection came to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..units import counted, format_time
from .text import labelled, paragraphs, section, table

if TYPE_CHECKING:  # both need torch
    from ..collect.plan import Case, Plan

_HEADS = ("family", "calls", "rows", "takes about", "shortest", "longest")


def to_dict(plan: Plan) -> dict[str, Any]:
    """Every call of the plan, and what is left out."""
    return {
        "device": plan.device,
        "minutes": plan.request.minutes,
        "seed": plan.request.seed,
        "l2": list(plan.request.l2),
        "rows": len(plan.units()),
        "timing_s": sum(case.timing_s for case in plan.cases),
        "calls": [{"family": c.family, **c.fields, "call_s": c.call_s, "timing_s": c.timing_s} for c in plan.cases],
        "skipped": dict(plan.skipped),
    }


def to_text(plan: Plan) -> str:
    """A line for each family, and what is left out."""
    by_family: dict[str, list[Case]] = {}
    for case in plan.cases:
        by_family.setdefault(case.family, []).append(case)
    rows = [_line(name, found, len(plan.request.l2)) for name, found in sorted(by_family.items())]
    total = sum(case.timing_s for case in plan.cases)
    return paragraphs(
        labelled([("device", plan.device), ("rows", counted(len(plan.units()), "row")), ("takes", format_time(total))]),
        table(_HEADS, rows, right=_HEADS[1:]),
        section("left out", left_out(plan.skipped)),
    )


def _line(name: str, cases: list[Case], states: int) -> tuple[str, ...]:
    times = [case.call_s for case in cases]
    shown = [format_time(one) for one in (sum(case.timing_s for case in cases), min(times), max(times))]
    return (name, f"{len(cases):,}", f"{states * len(cases):,}", *shown)


def left_out(skipped: Mapping[str, int]) -> Iterator[str]:
    """`gemm: do not fit the memory: 12 calls`."""
    yield from (f"{why}: {counted(count, 'call')}" for why, count in sorted(skipped.items()))
