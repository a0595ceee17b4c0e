"""Bytes of a parameter while it is trained: weights, gradients and what Adam keeps of it.

Sources: S. Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models", SC 2020 (16
bytes); deepspeedai/DeepSpeed, runtime/zero/stage3.py, the estimators of model states (18 bytes: gradients are
FP32 too; 1.5 of what the host holds, for its buffers).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MIXED, MIXED_FP32_GRADIENTS, FP32 = "mixed", "mixed-fp32-gradients", "fp32"
HOST_BUFFERS = 1.5
NONE, OPTIMIZER, ALL = "none", "optimizer", "all"
OFFLOADS = (NONE, OPTIMIZER, ALL)
LAST_STAGE = 3  # of ZeRO


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """Bytes a parameter of what is used in passes, of gradients, and of the optimizer; `words` say what they are."""

    weights: int
    gradients: int
    optimizer: int
    words: str

    @property
    def total(self) -> int:
        """All of them."""
        return self.weights + self.gradients + self.optimizer

    def per_gpu(self, dp: int, zero: int, offload: str) -> tuple[float, float, float]:
        """Bytes a parameter on one of `dp` GPUs, where ZeRO shares from the optimizer on and a host may hold a part."""
        weights = self.weights / (dp if zero >= LAST_STAGE else 1) * (offload != ALL)
        gradients = self.gradients / (dp if zero >= LAST_STAGE - 1 else 1) * (offload == NONE)
        optimizer = self.optimizer / (dp if zero >= 1 else 1) * (offload == NONE)
        return weights, gradients, optimizer

    def on_host(self, offload: str) -> float:
        """Bytes a parameter in the memory of the hosts, with their buffers."""
        moved = {NONE: 0, OPTIMIZER: self.gradients + self.optimizer, ALL: self.total}
        return HOST_BUFFERS * moved[offload]


PRECISIONS: Mapping[str, States] = {
    MIXED: States(
        weights=2, gradients=2, optimizer=12, words="2 weights + 2 gradients + 4 master + 4 m + 4 v, mixed precision"
    ),
    MIXED_FP32_GRADIENTS: States(
        weights=2,
        gradients=4,
        optimizer=12,
        words="2 weights + 4 gradients + 4 master + 4 m + 4 v, as DeepSpeed's estimators count (whose GB are GiB)",
    ),
    FP32: States(weights=4, gradients=4, optimizer=8, words="4 weights + 4 gradients + 4 m + 4 v, FP32"),
}
