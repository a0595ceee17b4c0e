"""How unequal the tasks of a launch are: the busiest SM, the longest tile, and how tiles are split."""

from __future__ import annotations

from ..explanation import Explanation
from ..units import format_time


def busiest(x: Explanation) -> str:
    """The busiest SM's tasks; where they are unequal, its work in mean tasks."""
    load = x.features.load
    tasks = f"{int(load.tasks):,} {'task' if load.tasks == 1 else 'tasks'}"
    if x.task.sm_max_tasks is None:
        return f"{load.sm_max_tasks:,.0f} of {tasks}, the mean is {load.tasks / x.gpu.num_sms:,.3g}"
    return f"the work of {load.sm_max_tasks:,.3g} of {tasks}, imbalance {load.imbalance:.3g} (over the mean SM)"


def lines(x: Explanation) -> list[tuple[str, str]]:
    """Steps of tiles over keys, and the parts of a split; nothing for a family without."""
    facts = x.launch.facts
    if "longest_tile_steps" not in facts:
        return []
    mean = facts["steps"] / x.launch.tiles
    steps = (
        f"{facts['steps']:,.0f} over tiles of keys; {mean:,.3g} of the mean tile, {facts['longest_tile_steps']:,.0f}"
    )
    return [("steps", f"{steps} of the longest"), ("split", split(x)), ("softmax", _softmax(x))]


def _softmax(x: Explanation) -> str:
    """What exponentials and the rest of softmax take on the busiest SM, beside the products."""
    busy = {name: format_time(busy_s) for name, busy_s in x.features.busiest_s.items()}
    if x.gpu.math_pipe(x.call.dtype) == "tensor":
        softmax = f"{busy['xu']} on xu and {busy['fma']} on fma of the busiest SM"
        return f"{softmax}, beside {busy['tensor']} of products on tensor"
    return f"{busy['xu']} on xu of the busiest SM; the rest shares fma with the products, {busy['fma']} for both"


def split(x: Explanation) -> str:
    """The parts of a tile by the kernel's own rule, and who adds them up; nothing where tiles are whole."""
    facts = x.launch.facts
    if "keys_per_part" not in facts:
        return ""
    parts = f"each tile in {x.launch.choice['num_splits']} parts of up to {facts['keys_per_part']:,.0f} keys"
    adding = format_time(x.features.reduction_s) if x.features.reduction_s else "part of the launch floor"
    return f"{parts}, added up by a second launch ({adding})"
