"""What requests see of a load that is no static batch."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ..models import Plan
from .answer import Times
from .closed import closed_times
from .fitted import Fitted
from .load import Load, times_of
from .step_costs import StepCosts
from .workload import ClosedLoop


def loaded_times(
    load: Load, plan: Plan, known: Fitted, costs: Mapping[str, Any], max_tokens: int | None
) -> tuple[Times, tuple[str, ...]]:
    """What requests see, and what that rests on; `costs` are the arguments of `StepCosts` but for the extent.

    Raises:
        FieldError: a request can never fit.
    """
    make = partial(StepCosts, **costs)
    if isinstance(load, ClosedLoop):
        return closed_times(load, plan, known, lambda extent: make(extent=extent), max_tokens)
    return times_of(load, plan, known.policy, known.factors, lambda extent: make(extent=extent), max_tokens)
