"""The paper's own model, one network for each kernel and format: features -> efficiency -> time.

Efficiency is theoretical tensor cycles over measured cycles, so time = theoretical cycles / (efficiency x clock).
Outside the training range the sigmoid of the released model saturates to 0, which has no time: an efficiency is
never taken to be below `LEAST_EFFICIENCY`, so that every time is finite. It still may be wrong there by any factor.
Source: SynPerf, arXiv 2601.14910, section on training, and its artifact (Apache-2.0); docs/baselines.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ... import paper
from ...hardware import GPU
from ...numeric import Number
from ..recipe import Recipe
from .nets.recipe import recipe as of_networks
from .nets.schedule import Schedule

LEAST_EFFICIENCY = 1e-9  # the epsilon of the loss: what is below it was not told apart in training


def recipe(*, max_epochs: int = 2500, minutes: float | None = None) -> Recipe:
    """The paper's recipe, which stops early by itself; `max_epochs` and `minutes` (of each network) end it before.

    The paper's seed is 42. A training that `minutes` ends is not the same a second time.
    """
    summary = "the paper's network, trained on its vector of 11 features"
    schedule = Schedule(max_epochs=max_epochs, minutes=minutes)
    found = of_networks("paper", summary, columns, "efficiency", LEAST_EFFICIENCY, schedule)
    return replace(found, families=("gemm",))


def columns(call: Any, gpu: GPU) -> tuple[Number, ...]:
    """Theoretical seconds, and the paper's vector."""
    vector = paper.vector(call, gpu)
    return vector["tensor_cycles"] / gpu.clock_hz, *vector.values()


RECIPE = recipe()
