"""Task groups -> load: how many tasks the launch has and the busiest SM runs."""

from __future__ import annotations

from dataclasses import dataclass

from ..numeric import Number
from . import hardware
from .groups import TaskGroups


@dataclass(slots=True, kw_only=True)
class Load:
    """Per call: tasks in all and on the busiest SM, and how the waves fill, worked out when asked for.

    Of unequal tasks, `sm_max_tasks` is the work of the busiest SM in mean tasks, and no whole number.
    """

    tasks: Number
    sm_max_tasks: Number
    num_sms: int
    ctas_per_sm: Number

    @property
    def imbalance(self) -> Number:
        """Work of the busiest SM over that of the mean SM."""
        return self.sm_max_tasks * self.num_sms / self.tasks

    @property
    def waves(self) -> Number:
        """Tasks over resident slots."""
        return hardware.waves(self.tasks, self.num_sms, self.ctas_per_sm)

    @property
    def wave_efficiency(self) -> Number:
        """Tasks over the slots of all started waves."""
        return hardware.wave_efficiency(self.tasks, self.num_sms, self.ctas_per_sm)

    @property
    def tail(self) -> Number:
        """Filled share of the last wave."""
        return hardware.tail(self.tasks, self.num_sms, self.ctas_per_sm)


def schedule(groups: TaskGroups, num_sms: int) -> Load:
    """Load of one group per call.

    Breadth-first refill, static stride and a queue all give the busiest SM ceil(tasks / SMs) of identical
    tasks, so one closed form serves the hardware and the software schedulers. Of unequal tasks the family knows.
    """
    busiest = groups.sm_max_tasks
    return Load(
        tasks=groups.count,
        sm_max_tasks=hardware.busiest_sm_tasks(groups.count, num_sms) if busiest is None else busiest,
        num_sms=num_sms,
        ctas_per_sm=groups.ctas_per_sm,
    )
