"""Task groups -> load: how many tasks the launch has and the busiest SM runs."""

from __future__ import annotations

from dataclasses import dataclass

from ..numeric import Number
from . import hardware
from .groups import TaskGroups


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Per call: tasks in all and on the busiest SM, and how the waves fill.

    `waves` is tasks over resident slots; `wave_efficiency` is tasks over the slots of all started waves;
    `tail` is the filled share of the last one.
    """

    tasks: Number
    sm_max_tasks: Number
    waves: Number
    wave_efficiency: Number
    tail: Number


def schedule(groups: TaskGroups, num_sms: int) -> Load:
    """Load of identical tasks, one group per call.

    Breadth-first refill, static stride and a queue all give the busiest SM ceil(tasks / SMs) of identical
    tasks, so one closed form serves the hardware and the software schedulers.
    """
    count, resident = groups.count, groups.ctas_per_sm
    return Load(
        tasks=count,
        sm_max_tasks=hardware.busiest_sm_tasks(count, num_sms),
        waves=hardware.waves(count, num_sms, resident),
        wave_efficiency=hardware.wave_efficiency(count, num_sms, resident),
        tail=hardware.tail(count, num_sms, resident),
    )
