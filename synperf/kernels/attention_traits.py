"""What an attention kernel does, from `attention_kernels.toml`: its tiles, how they reach the SMs, when it splits."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from math import inf
from pathlib import Path
from typing import Any

from ..errors import UnsupportedError
from ..hardware import GPU, DType
from ..hardware.launch import launch_floor
from .dispatch import resolve


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traits:
    """`dims` are head dimensions, ascending; up to each, `rows` of Q meet `columns` of K and V in one step."""

    engine: str
    kernel: str
    longest_first: bool
    packs_always: bool
    most_packed: float  # heads that share K and V, beyond which they have tiles of their own
    splits_narrow: bool  # whether tiles of several heads are split along a K and V stored narrower than multiplied
    few_rows: tuple[float, ...]
    splits_at: float
    stages: int
    prepares_queries: bool
    fill_s: float  # per tile
    dims: tuple[float, ...]
    rows: tuple[float, ...]
    columns: tuple[float, ...]
    reduction_s: float  # the launch that adds up the parts of a split


@lru_cache(maxsize=4096)
def traits(gpu: GPU, dtype: DType, engine: str | None, kernel: str | None) -> Traits:
    """Traits of the kernel that a call means, on this GPU.

    Raises:
        UnsupportedError: the kernel does not run on the GPU's compute capability; else as `dispatch.resolve`.
    """
    engine, name = resolve("attention", dtype, gpu.compute_capability, engine, kernel)
    listed = _kernels()[name]
    if gpu.compute_capability not in listed.get("cc", [gpu.compute_capability]):
        runs_on = ", ".join(listed["cc"])
        raise UnsupportedError(
            f"kernel: {name} needs compute capability {runs_on}; that of {gpu.name} is {gpu.compute_capability}"
        )
    tiles = listed.get("cc_tiles", {}).get(gpu.compute_capability, listed["tiles"])
    if dtype is DType.FP8:
        tiles = listed.get("fp8_tiles", tiles)
    return Traits(
        engine=engine,
        kernel=name,
        longest_first=listed["order"] == "longest_first",
        packs_always=listed["packs"] == "always",
        most_packed=listed.get("most_packed", inf),
        splits_narrow=listed.get("splits_narrow", True),
        few_rows=tuple(map(float, listed["few_rows"])),
        splits_at=listed["splits_at"],
        stages=listed["stages"],
        prepares_queries=listed["prepares"] == "qkv",
        fill_s=listed["fill"] / gpu.clock_hz,
        dims=tuple(float(d) for d in tiles),
        rows=tuple(float(tile[0]) for tile in tiles.values()),
        columns=tuple(float(tile[1]) for tile in tiles.values()),
        reduction_s=launch_floor(gpu, "attention", name, dtype)[0],
    )


@cache
def _kernels() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "attention_kernels.toml").read_text(encoding="utf-8"))
