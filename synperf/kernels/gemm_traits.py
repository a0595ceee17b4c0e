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
from .gemm_tiles import Shipped


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traits:
    """`quantise_bytes` is DRAM traffic per value of A; `reduction_s` the launch that sums the slices of split-K, 0
    where CTAs add them up in turn; `shipped` the kernel's own tiles, where it has not those of its architecture.
    """

    splits_k: bool
    quantise_bytes: float
    reduction_s: float
    kernel: str
    shipped: Shipped | None


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
        reduction_s=0.0 if listed.get("adds_in_turn") else launch_floor(gpu, "gemm", name, dtype)[0],
        kernel=name,
        shipped=_shipped(listed),
    )


def _shipped(listed: dict[str, Any]) -> Shipped | None:
    return Shipped(tuple(map(tuple, listed["tiles"])), listed["tile_k"]) if "tiles" in listed else None


@cache
def _kernels() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "gemm_kernels.toml").read_text(encoding="utf-8"))
