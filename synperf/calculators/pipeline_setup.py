"""What is asked of a pipeline: its stages, its schedule, its times and its layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import FieldError
from .amounts import count, not_negative, positive
from .pipeline_partition import Layers, Partition, partition
from .pipeline_schedules import ONE_F_ONE_B, check, most_in_flight
from .pipeline_timeline import Timeline, timeline

_MOST_STAGES = 64
_MOST_PASSES = 16_384
_BACKWARD = 2.0  # over the forward pass: gradients of inputs and of weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A pipeline; times are those of a stage for a micro-batch, or with `layers` for one unit of their costs.

    Without a time the forward pass is the unit of time; a backward pass takes twice as long where nothing else is said.
    """

    stages: int
    microbatches: int
    schedule: str = ONE_F_ONE_B
    chunks: int = 1
    forward_s: float | None = None
    backward_s: float | None = None
    transfer_s: float = 0.0
    layers: Layers | None = None
    split: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Checks the fields.

        Raises:
            FieldError: one is not what it should be, or does not go with another.
        """
        object.__setattr__(self, "stages", count("stages", self.stages, _MOST_STAGES))
        for name in ("microbatches", "chunks"):
            object.__setattr__(self, name, count(name, getattr(self, name), _MOST_PASSES))
        passes = self.stages * self.microbatches * self.chunks
        if passes > _MOST_PASSES:
            raise FieldError(f"microbatches x stages x chunks must be up to {_MOST_PASSES}, got {passes}")
        check(self.schedule, self.stages, self.microbatches, self.chunks)
        for name in ("forward_s", "backward_s"):
            if getattr(self, name) is not None:
                positive(**{name: getattr(self, name)})
        not_negative(transfer_s=self.transfer_s)
        if self.layers is None and self.split is not None:
            raise FieldError("layers: none given; a split is one of --layers N or --layer-costs")
        if self.layers is not None and self.chunks > 1:
            raise FieldError(f"chunks must be 1 where layers are split among stages, got {self.chunks}")

    @property
    def in_flight(self) -> tuple[float, ...]:
        """Micro-batches whose activations each stage holds at most."""
        return most_in_flight(self.schedule, self.stages, self.microbatches, self.chunks)

    def partition(self, split: Sequence[float] | None) -> Partition | None:
        """The best partition of the layers, or that of a split; None where there are no layers."""
        return None if self.layers is None else partition(self.layers, self.in_flight, split)

    def timeline(self, parts: Partition | None) -> Timeline:
        """The passes of a step."""
        return self._timeline([1.0] * self.stages if parts is None else parts.costs)

    def _timeline(self, costs: Sequence[float]) -> Timeline:
        forward = 1.0 if self.forward_s is None else self.forward_s
        backward = _BACKWARD * forward if self.backward_s is None else self.backward_s
        ahead, back = ([cost * one for cost in costs] for one in (forward, backward))
        return timeline(self.schedule, self.microbatches, ahead, back, self.chunks, self.transfer_s)
