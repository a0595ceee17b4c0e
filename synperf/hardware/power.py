"""What the power of a board sustains, of GPUs that nobody measured: tensor cores may be faster than it lets them be."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from .dtype import DType
from .gpu import GPU
from .records import record
from .twins import twins_of

FILE = Path(__file__).with_name("power.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """`efficiency`: the analytical time of products over that within a model. `flop_per_s_per_w`, by compute
    capability: what tensor cores sustain in 16 bits for each watt of the board; other formats in the ratio of peaks.
    """

    efficiency: float
    flop_per_s_per_w: Mapping[str, float]
    provenance: Mapping[str, str] = field(default_factory=dict)

    def flop_per_s(self, gpu: GPU, dtype: DType) -> float | None:
        """What the board sustains in a format; None where its power was never found to be the limit."""
        per_w = self.flop_per_s_per_w.get(gpu.compute_capability)
        if per_w is None or DType.BF16 not in gpu.tensor_flop_per_clk_per_sm:
            return None
        return per_w * gpu.power_w * gpu.peak_flop_per_s(dtype) / gpu.peak_flop_per_s(DType.BF16)


@cache
def power() -> Power:
    """What was fitted."""
    return Power(**tomllib.loads(FILE.read_text(encoding="utf-8")))


def is_measured(gpu: GPU) -> bool:
    """Whether kernels were timed on the GPU, or on a twin of it."""
    if gpu.calibration.clock_share is not None:
        return True
    return any(record(key) is not None for key in twins_of(gpu.key))
