"""What the kernels of expert layers and grouped GEMMs do beside the products: `moe_kernels.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ..hardware import GPU, DType
from .dispatch import canonical, resolve


@dataclass(frozen=True, slots=True, kw_only=True)
class MoeKernel:
    """Traits of one kernel; the TOML file says what each means."""

    name: str
    first_pass_only: bool = False
    tile_rule: bool = False
    permutes: bool = False
    fuses_activation: bool = False
    all_rows: bool = False
    multicasts: bool = False
    most_rows: int = 128


@lru_cache(maxsize=4096)
def moe_kernel(family: str, gpu: GPU, dtype: DType, engine: str | None, kernel: str | None) -> MoeKernel:
    """Traits of the kernel that a call means.

    Raises: as `dispatch.resolve`.
    """
    _, name = resolve(family, dtype, gpu.compute_capability, engine, kernel)
    listed = dict(_kernels().get(name, {}))
    return MoeKernel(name=name, all_rows=dtype in listed.pop("all_rows", ()), **listed)


@lru_cache(maxsize=1024)
def first_pass_only(family: str, dtype: DType, kernel: str | None) -> bool:
    """Whether a kernel is the gate and up pass alone; no engine dispatches to such a one unless it is named.

    Raises: as `dispatch.canonical`.
    """
    return kernel is not None and _kernels().get(canonical(family, kernel, dtype), {}).get("first_pass_only", False)


@cache
def _kernels() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "moe_kernels.toml").read_text(encoding="utf-8"))
