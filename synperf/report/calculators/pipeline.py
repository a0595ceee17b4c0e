"""A pipeline's step, as text, as JSON and drawn in time."""

from __future__ import annotations

from typing import Any

from ...calculators.pipeline import Pipeline
from ...calculators.pipeline_partition import Partition
from ...calculators.pipeline_schedules import BACKWARD, FORWARD, WEIGHTS
from ...units import format_percent, format_quantity, format_time
from ..charts import bars
from ..charts.lanes import Block, draw
from ..known import known
from ..text import labelled, number, paragraphs, section, table

_KINDS = {FORWARD: "forward", BACKWARD: "backward", WEIGHTS: "backward, of weights"}
_MOST_BLOCKS = 4000  # beyond which a drawing shows shares alone
_MOST_ROWS = 16


def to_dict(found: Pipeline) -> dict[str, Any]:
    """Every field that there is but the single passes."""
    return {name: value for name, value in known(found).items() if name != "timeline"}


def to_text(found: Pipeline) -> str:
    """The bubble, the step, and the stages."""
    setup = found.setup
    name = setup.schedule + (f" with {setup.chunks} chunks" if setup.chunks > 1 else "")
    ideal = _percent(found.bubble_of_ideal)
    head = f"{name}: {_percent(found.bubble_of_total)} of all time is bubble, {ideal} of the ideal"
    lines = [
        ("step", _step(found)),
        ("textbook", f"p/m = {_percent(found.textbook_bubble)}"),
        ("in flight", "" if found.partition else ", ".join(f"{one:g}" for one in found.in_flight)),
    ]
    return paragraphs(head, labelled(lines), _stages(found), section("why", found.why), section("advice", found.advice))


def _step(found: Pipeline) -> str:
    if found.setup.forward_s is None:
        return f"{number(found.step)} times the forward pass of " + (
            "a stage" if found.partition is None else "a layer"
        )
    return format_time(found.step)


def _stages(found: Pipeline) -> str:
    parts = found.partition
    if parts is None:
        return ""
    heads = ["stage", "layers", "time", "weights", "bytes", "in flight"]
    rows = [_row(parts, stage, found.in_flight[stage]) for stage in range(min(len(parts.layers), _MOST_ROWS))]
    left = len(parts.layers) - len(rows)
    fits = {None: "", True: "\nall stages fit", False: "\nnot all stages fit"}[parts.fits]
    return table(heads, rows, right=heads) + (f"\nand {left} more" if left else "") + fits


def _row(parts: Partition, stage: int, in_flight: float) -> tuple[str, ...]:
    sizes = (format_quantity(value, "B") for value in (parts.weights_bytes[stage], parts.bytes[stage]))
    return str(stage), str(parts.layers[stage]), number(parts.costs[stage]), *sizes, f"{in_flight:g}"


def to_svg(found: Pipeline) -> str:
    """The passes of every stage over time, with the number of the micro-batch; of very many the shares alone."""
    lanes = found.timeline.lanes
    used = [kind for kind in _KINDS if any(span.done.kind == kind for span in lanes[0])]
    title = f"One step of {len(lanes)} stages, {found.setup.schedule}"
    if sum(map(len, lanes)) > _MOST_BLOCKS:
        return _shares(found, title)
    blocks = {
        f"stage {stage}": [
            Block(one.start_s, one.end_s, used.index(one.done.kind), str(one.done.microbatch + 1)) for one in lane
        ]
        for stage, lane in enumerate(lanes)
    }
    shown = number if found.setup.forward_s is None else format_time
    return draw(title, [_KINDS[kind] for kind in used], blocks, shown, words=found.why)


def _shares(found: Pipeline, title: str) -> str:
    busy = [sum(one.end_s - one.start_s for one in lane) for lane in found.timeline.lanes]
    rows = {f"stage {stage}": [time, max(0.0, found.step - time)] for stage, time in enumerate(busy)}
    return bars.stacked(title, ("busy", "idle"), rows, words=found.why)


def _percent(share: float) -> str:
    return format_percent(share, 4)
