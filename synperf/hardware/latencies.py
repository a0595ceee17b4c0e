"""How long a load waits for its data, as measured on GPUs of a compute capability, from latencies.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import FieldError
from .gpu import GPU

LEVELS = ("dram", "l2", "shared")


@dataclass(frozen=True, slots=True)
class Latency:
    """Cycles of the SM's clock, and the GPU on which they were measured."""

    cycles: float
    on: str


def latency(gpu: GPU, level: str) -> Latency:
    """Of a load from `dram`, `l2` or `shared` memory, with nothing else running.

    Raises:
        FieldError: none was measured on this compute capability.
    """
    found = _table().get(gpu.compute_capability, {})
    if level not in found:
        raise FieldError(
            f"latency_cycles: none of {level} is known for {gpu.name} (compute capability {gpu.compute_capability}); "
            "right would be --latency-cycles, as measured"
        )
    return Latency(float(found[level]), found["on"])


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("latencies.toml").read_text(encoding="utf-8"))
