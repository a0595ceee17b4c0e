"""Tasks of a launch, grouped: identical tasks are one row, so a launch of a million CTAs is a few rows."""

from __future__ import annotations

from dataclasses import dataclass

from ..numeric import Number


@dataclass(slots=True, kw_only=True)
class TaskGroups:
    """Work of one task (CTA, or tile of a persistent CTA) and how many identical ones there are.

    Columns are floats for one call, float64 arrays for many. `call` is the index of the call that a row belongs
    to, or None when row i is the one group of call i. `then` is the launch that starts when this one has ended.
    """

    count: Number
    tensor_flop: Number = 0.0  # padded: an edge tile costs as much as a full one
    fma_flop: Number = 0.0
    xu_op: Number = 0.0
    load_bytes: Number = 0.0  # out of L2, in-bounds values only; what CTAs share by multicast is divided among them
    store_bytes: Number = 0.0  # into L2
    port_bytes: Number = 0.0  # between L2 and the SM of the task, both ways
    shared_bytes: Number = 0.0  # through shared memory
    ctas_per_sm: Number = 1  # resident at once, by registers and shared memory
    reduction_s: Number = 0.0  # a launch that sums partial results afterwards
    before_s: Number = 0.0  # a pass that prepares operands, where `fill_s` is given
    fill_s: Number = None  # what the tasks of the busiest SM wait for their first data and for their last store
    waits_s: Number = 0.0  # of the busiest SM, where each load waits for the one before: its L2 is not faster
    least_waits_s: Number = 0.0  # of these, what a launch of one short task waits too
    seen_waits_s: Number = None  # what networks were shown in its place when they were trained; None: the same
    sm_max_tasks: Number = None  # of the busiest SM, where tasks are unequal and the work above is that of the mean one
    call: Number = None
    then: TaskGroups | None = None

    def launches(self) -> tuple[TaskGroups, ...]:
        """This launch and those that follow it."""
        return (self,) if self.then is None else (self, *self.then.launches())
