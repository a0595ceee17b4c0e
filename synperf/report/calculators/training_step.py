"""A training step, as text, as JSON and drawn."""

from __future__ import annotations

from typing import Any

from ...calculators.training_step import TrainingStep
from ...units import format_percent, format_quantity, format_time
from ..charts import bars
from ..known import known
from ..text import labelled, paragraphs, section, table


def to_dict(found: TrainingStep) -> dict[str, Any]:
    """Every field that there is; `mfu` and `hfu` at the top too."""
    top = {} if found.used is None else {"mfu": found.used.mfu, "hfu": found.used.hfu}
    return known(found) | top


def to_text(found: TrainingStep) -> str:
    """Use, FLOP, shares and what does not add up."""
    return paragraphs(
        _head(found),
        labelled([*_flop(found), *_use(found)]),
        _shares(found),
        section("why", found.why),
        section("findings", found.findings),
        section("advice", found.advice),
    )


def _head(found: TrainingStep) -> str:
    gpus = found.setup.gpus
    if found.used is not None:
        return f"MFU {format_percent(found.used.mfu)} on {gpus} GPU{'s' if gpus > 1 else ''}"
    if found.reported is not None:
        told = found.reported
        rate = format_quantity(told.causal_flop_per_s, "FLOP/s")
        return f"{rate} with a causal mask, {format_percent(told.utilization)} of peak"
    if found.shares is not None:
        return f"{format_time(found.shares.step_s)} a step, most of it {found.shares.bottleneck}"
    return "work of a training step"


def _flop(found: TrainingStep) -> list[tuple[str, str]]:
    if found.flop is None:
        return []
    named = {"forward": "forward", "backward": "backward", "again": "again", "hardware": "all"}
    return [(label, format_quantity(found.flop[key], "FLOP", 4)) for key, label in named.items() if found.flop[key]]


def _use(found: TrainingStep) -> list[tuple[str, str]]:
    used = found.used
    if used is None:
        return []
    return [
        ("a GPU", format_quantity(used.flop_per_s_per_gpu, "FLOP/s", 4)),
        ("MFU", format_percent(used.mfu)),
        ("HFU", format_percent(used.hfu)),
    ]


def _shares(found: TrainingStep) -> str:
    if found.shares is None:
        return ""
    split = found.shares
    rows = [(name, format_time(split.parts[name]), format_percent(split.shares[name])) for name in split.parts]
    heads = ("part", "time", "share")
    return table(heads, [*rows, ("all", format_time(split.step_s), "100 %")], right=heads[1:])


def to_svg(found: TrainingStep) -> str:
    """The parts of the step; without them the rates of a GPU, or its FLOP."""
    words = (*found.why, *found.findings)
    if found.shares is not None:
        rows = {name: [value] for name, value in found.shares.parts.items()}
        return bars.side_by_side("Parts of a training step", (), rows, format_time, words)
    peak = found.setup.peak
    if found.used is not None and peak is not None:
        rates = {
            "model": [found.used.flop_per_s_per_gpu],
            "with recomputation": [found.used.hfu * peak],
            "peak": [peak],
        }
    elif found.reported is not None and peak is not None:
        told = found.reported
        rates = {"reported": [told.flop_per_s], "causal": [told.causal_flop_per_s], "peak": [peak]}
    else:
        flop = found.flop or {}
        return bars.side_by_side("FLOP of a step", (), {k: [v] for k, v in flop.items()}, _count, words)
    return bars.side_by_side("FLOP a second of one GPU", (), rates, _rate, words)


def _rate(value: float) -> str:
    return format_quantity(value, "FLOP/s")


def _count(value: float) -> str:
    return format_quantity(value, "FLOP")
