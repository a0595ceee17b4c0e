"""An evaluation of measured serving points, as text: errors of every way to predict, and of ours by label."""

from __future__ import annotations

from collections.abc import Sequence

from ..evaluation.e2e.silicon import Peer, PointReport, PointScore, TimeScore
from ..units import format_percent
from .text import paragraphs, section, table

_TIMES = (("tpot", "TPOT"), ("ttft", "TTFT"), ("e2e", "latency"))
_HEADS = (
    "points",
    *(f"{name}{what}" for _, name in _TIMES for what in (" median", " mean", " P90")),
    *(f"{name} within {limit}" for _, name in _TIMES[:2] for limit in ("20 %", "50 %")),
)
_TITLES = {
    "known-stack": "serving points, configurations that nothing was fitted to",
    "family-out": "serving points, each family of models by what was fitted to the others",
    "gpu-out": "serving points, each GPU by what was fitted to the others",
    "concurrency-out": "serving points of many clients, by what was fitted to few",
    "length-out": "serving points of long prompts, by what was fitted to short ones",
}


def to_text(report: PointReport) -> str:
    """Every way to predict, then ours by label, the points that wait for room, and what was set aside."""
    labels = {label: scores for label, scores in report.by.items() if len(scores) > 1}
    answered = f"answered {report.answered:,} of {report.predictable:,} predictable points"
    below = f"measured TPOT below the bounds of the kernels that are counted: {report.below_roofline:,}"
    covered = "" if report.covered is None else _covered(*report.covered)
    aside = [f"{count:,}: {reason}" for reason, count in report.set_aside.items()]
    return paragraphs(
        _TITLES[report.split],
        _table("all", report.scores),
        *(_table(label, scores) for label, scores in labels.items()),
        _table("apart", () if report.limited is None else (report.limited,)),
        section("aiconfigurator's own estimates, median and mean", [_peer(one) for one in report.peers]),
        "\n".join(filter(None, (answered, covered, below))),
        section("rows set aside", aside),
        _LEGEND,
    )


def _table(name: str, scores: Sequence[PointScore]) -> str:
    return table((name, *_HEADS), [(one.group, *_cells(one)) for one in scores], _HEADS) if scores else ""


def _cells(one: PointScore) -> tuple[str, ...]:
    times: list[TimeScore] = [getattr(one, name) for name, _ in _TIMES]
    errors = [value for time in times for value in (time.errors.median, time.errors.mape, time.errors.p90)]
    shares = [value for time in times[:2] for value in (time.close, time.near)]
    return (f"{one.points:,}", *(format_percent(value) for value in (*errors, *shares)))


def _covered(tpot: float, ttft: float) -> str:
    shares = f"TPOT {format_percent(tpot)}, TTFT {format_percent(ttft)}"
    return f"measured times inside the intervals that ship, which mean to hold 80 %: {shares}"


def _peer(one: Peer) -> str:
    tpot, ttft = (" / ".join(map(format_percent, pair)) for pair in (one.tpot, one.ttft))
    return f"{one.points:,} points: TPOT {tpot}, TTFT {ttft} ({one.what})"


_LEGEND = (
    "Absolute relative errors of means over all requests of a closed loop, those of its start among them; latency is "
    "TTFT and the rest of an answer of the nominal length. Factors alone: without what measured points near to a load "
    "were off. Kernels, nothing fitted: factors of 1 and a usual host. Roofline: bounds of kernels, with factors and "
    "residuals fitted alike. Regression: logarithms of both times on those of loads, ranks and the bounds of a token."
)
