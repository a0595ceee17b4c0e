"""What iterations of an engine cost before factors: seconds of kernels and messages, from a few hundred predictions.

They are read between points (`stage_costs`), thousands of them in a millisecond.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..hardware import GPU
from ..models import Model, Plan, calls, stages
from ..numeric import Number, where
from .factors import Factors
from .in_step import Predict, in_step
from .iterations import Floats, Iterations, Run
from .stage_costs import Extent, Part, StageCosts


class StepCosts:
    """Costs of a model's iterations on the GPUs of a plan, of one of its `dp` groups and one micro-batch."""

    def __init__(
        self, model: Model, plan: Plan, gpu: GPU, extent: Extent, *, padded: Sequence[int] = (),
        estimate: Predict = in_step,
    ) -> None:  # fmt: skip
        """`padded`: sizes that an engine pads batches of decodes to, for which it has CUDA graphs.

        Raises:
            FieldError: the plan does not go with the model.
            UnsupportedError: the GPU lacks a format, or the engine a kernel for it.
        """
        spans = stages(model.num_layers, plan.pp)
        kinds = [(len(span), at == 0, at == plan.pp - 1) for at, span in enumerate(spans)]
        of_kind = {
            kind: StageCosts(partial(calls, model, plan, stage=kinds.index(kind)), gpu, extent, padded, estimate)
            for kind in dict.fromkeys(kinds)
        }
        self._counts = [(stage, kinds.count(kind)) for kind, stage in of_kind.items()]

    def columns(self, iterations: Iterations) -> Floats:
        """Rows of an iteration's costs, one of each run, in the order of `factors.ITERATION`."""
        rows = np.zeros(len(iterations))
        return np.stack([one + rows for one in self._costs(iterations)], axis=1)

    def seconds(self, run: Run, factors: Factors) -> float:
        """The time of an iteration of one run."""
        return float(sum(one * factor for one, factor in zip(self._costs(run), factors.of_iterations(), strict=True)))

    def parts(self, iterations: Iterations) -> dict[Part, Floats]:
        """Seconds of each part in an iteration of each run, of all stages one after another."""
        found: dict[Part, Floats] = {}
        for stage, count in self._counts:
            for part, seconds in stage.parts(iterations):
                found[part] = found.get(part, np.zeros(len(iterations))) + count * seconds
        return found

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the predictions rest on."""
        return tuple(dict.fromkeys(said for stage, _ in self._counts for said in stage.assumptions))

    def _costs(self, batch: Iterations | Run) -> list[Number]:
        """Numbers, or columns.

        With several stages an iteration of one of the `pp` micro-batches takes as long as all stages, or as `pp` times
        the slowest, for which the others wait, where that is more.
        """
        found = [(stage.seconds(batch), count) for stage, count in self._counts]
        total = [sum(one[at] * count for one, count in found) for at in range(len(found[0][0]))]
        many = sum(count for _, count in found)
        if len(found) > 1:
            slowest = found[0][0]
            for one, _ in found[1:]:
                slowest = [where(sum(one) > sum(slowest), a, b) for a, b in zip(one, slowest, strict=True)]
            is_more = many * sum(slowest) > sum(total)
            total = [where(is_more, many * a, b) for a, b in zip(slowest, total, strict=True)]
        return _arranged(batch, total)


def _arranged(batch: Any, seconds: Sequence[Number]) -> list[Number]:
    """In the order of `factors.ITERATION`, from (kernels, attention of decodes, of chunks, messages)."""
    kernels, of_decodes, of_chunks, messages = seconds
    chunked = 1.0 * (batch.chunks > 0)
    alone, attention = 1.0 - chunked, of_decodes + of_chunks
    return [
        alone * kernels, alone * attention, chunked * kernels, chunked * attention, messages,
        alone, alone * batch.decodes, chunked, chunked * batch.decodes, 1.0 * batch.prompt_tokens,
    ]  # fmt: skip
