"""How unequal the tasks of a launch are: the busiest SM, the longest tile, and how tiles are split."""

from __future__ import annotations

from ..explanation import Explanation


def busiest(x: Explanation) -> str:
    """The busiest SM's tasks; where they are unequal, its work in mean tasks."""
    load = x.features.load
    tasks = f"{int(load.tasks):,} {'task' if load.tasks == 1 else 'tasks'}"
    if x.task.sm_max_tasks is None:
        return f"{load.sm_max_tasks:,.0f} of {tasks}, the mean is {load.tasks / x.gpu.num_sms:,.3g}"
    return f"the work of {load.sm_max_tasks:,.3g} of {tasks}, {load.imbalance:.3g} times that of the mean SM"


def lines(x: Explanation) -> list[tuple[str, str]]:
    """Steps of tiles over keys, and the parts of a split; nothing for a family without."""
    facts = x.launch.facts
    if "longest_tile_steps" not in facts:
        return []
    mean = facts["steps"] / x.launch.tiles
    steps = (
        f"{facts['steps']:,.0f} over tiles of keys; {mean:,.3g} of the mean tile, {facts['longest_tile_steps']:,.0f}"
    )
    found = [("steps", f"{steps} of the longest")]
    if "keys_per_part" in facts:
        parts = f"{x.launch.choice['num_splits']} parts of up to {facts['keys_per_part']:,.0f} keys"
        found.append(("split", f"each tile in {parts}, added up by a second launch"))
    return found
