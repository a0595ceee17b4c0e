"""How long and in which steps a network is trained, as the paper's artifact trains its own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """AdamW with a learning rate that falls when the validation loss does not, until it has not for long.

    `minutes` ends a training by wall time, whatever the loss: what it gives is not the same a second time.
    Source: SynPerf, arXiv 2601.14910, section on training, and its artifact.
    """

    max_epochs: int = 2500
    minutes: float | None = None
    batch: int = 1024
    learning_rate: float = 1e-3
    least_learning_rate: float = 1e-6
    weight_decay: float = 1e-4
    gradient_norm: float = 1.0
    decay: float = 0.6  # of the learning rate, after `decay_patience` epochs without a lower loss
    decay_patience: int = 45
    stop_patience: int = 85
    validation_share: float = 0.2
