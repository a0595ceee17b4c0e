"""The hardware scheduler: every SM gets one CTA before any gets two, then the next CTA goes where one retires.

Closed forms for identical CTAs; `simulate` places unequal ones and is the oracle of the closed forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heapreplace

import numpy as np

from ..numeric import Number, ceil_div
from .placement import Placement


def busiest_sm_tasks(count: Number, num_sms: int) -> Number:
    """CTAs that the busiest SM runs, of `count` identical ones; the number resident at once does not change it."""
    return ceil_div(count, num_sms)


def waves(count: Number, num_sms: int, ctas_per_sm: Number) -> Number:
    """Launch size in units of what the GPU holds at once; the last wave may be partly filled."""
    return count / (num_sms * ctas_per_sm)


def wave_efficiency(count: Number, num_sms: int, ctas_per_sm: Number) -> Number:
    """CTAs over the slots of all started waves: 1 when the last wave is full."""
    slots = num_sms * ctas_per_sm
    return count / (ceil_div(count, slots) * slots)


def tail(count: Number, num_sms: int, ctas_per_sm: Number) -> Number:
    """Filled share of the last wave: 1 when it is full."""
    slots = num_sms * ctas_per_sm
    return (count - (ceil_div(count, slots) - 1) * slots) / slots


def simulate(costs: Sequence[float], num_sms: int, ctas_per_sm: int = 1) -> Placement:
    """Where and when each CTA runs, in issue order. CTAs of one SM run side by side.

    Slots that free up together are filled breadth first, then by SM index.
    """
    # (free at, slot of its SM, SM)
    slots = [(0.0, turn, sm) for turn in range(ctas_per_sm) for sm in range(num_sms)]
    heapify(slots)
    sms = np.empty(len(costs), dtype=np.int64)
    starts = np.empty(len(costs))
    for task, cost in enumerate(costs):
        start, turn, sm = slots[0]
        sms[task], starts[task] = sm, start
        heapreplace(slots, (start + cost, turn, sm))
    return Placement(sm=sms, start=starts, cost=np.asarray(costs, dtype=np.float64), num_sms=num_sms)
