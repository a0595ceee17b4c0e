"""What a library's GEMM kernel does besides the product: `gemm_kernels.toml`, and the launch that split-K adds."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ..hardware import GPU, DType
from ..hardware.launch import launch_floor
from .dispatch import resolve


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traits:
    """`quantise_bytes` is DRAM traffic per value of A; `reduction_s` the launch that sums the slices of split-K."""

    splits_k: bool
    quantise_bytes: float
    reduction_s: float
    kernel: str


@lru_cache(maxsize=4096)
def traits(gpu: GPU, dtype: DType, engine: str | None, kernel: str | None) -> Traits:
    """Traits of the kernel that a call means.

    Raises: as `dispatch.resolve`.
    """
    _, name = resolve("gemm", dtype, gpu.compute_capability, engine, kernel)
    listed = _kernels().get(name, {})
    return Traits(
        splits_k=listed.get("splits_k", True),
        quantise_bytes=listed.get("quantise_bytes", {}).get(str(dtype), 0.0),
        reduction_s=launch_floor(gpu, "gemm", name, dtype)[0],
        kernel=name,
    )


@cache
def _kernels() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "gemm_kernels.toml").read_text(encoding="utf-8"))
