"""What memory-bound families do (`memory_bound.toml`) and how libraries launch them (`memory_kernels.toml`)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ..hardware import GPU, DType
from .dispatch import resolve


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What one family moves and computes; the TOML file says what each entry means."""

    reads: float = 0.0
    writes: float = 0.0
    parameters: float = 0.0
    flop: float = 0.0
    executed: float = 1.0
    xu: float = 0.0
    row_xu: float = 0.0
    passes: int = 1
    reductions: int = 0
    dtypes: tuple[DType, ...] = ()
    quant_dtypes: tuple[DType, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scales:
    """Scales of a written format: `row` bytes per row, `bytes` per `block` values; rows are multiples of `whole`."""

    row: float = 0.0
    bytes: float = 0.0
    block: int = 1
    whole: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How one library launches one family; the TOML file says what each entry means."""

    kernel: str
    threads: int
    team: int
    unroll: int
    registers: int
    pack: int = 0
    values: int = 0
    rows: int = 1
    widest: float = 16.0
    grid: int = 0
    keeps: bool = False
    gathers: bool = False
    extra_read: float = 0.0
    extra_write: float = 0.0
    reductions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """Clocks from a load to its value, of a reduction over the threads of a CTA, and between the starts of CTAs."""

    l2: float
    dram: float
    reduction: float
    cta: float


@cache
def facts(family: str) -> Facts:
    """What a family moves and computes."""
    listed = dict(_read("memory_bound")[family])
    listed |= {name: tuple(map(DType, listed.get(name, ()))) for name in ("dtypes", "quant_dtypes")}
    return Facts(**listed)


@cache
def scales(dtype: DType | None) -> Scales:
    """Scales that are written beside values of a format; none beside formats that need none."""
    return Scales(**_read("memory_bound")["scales"].get(dtype, {}))


@lru_cache(maxsize=4096)
def style(family: str, gpu: GPU, dtype: DType, engine: str | None, kernel: str | None) -> Style:
    """How the kernel that a call means is launched.

    Raises: as `dispatch.resolve`.
    """
    _, name = resolve(family, dtype, gpu.compute_capability, engine, kernel)
    file = _read("memory_kernels")
    listed = file["kernels"][name]
    own = {key: value for key, value in (listed | listed.get(family, {})).items() if not isinstance(value, dict)}
    return Style(kernel=name, **{"unroll": file["unroll"], "registers": file["registers"], **own})


@cache
def clocks() -> Clocks:
    """What threads wait for."""
    return Clocks(**_read("memory_kernels")["clocks"])


@lru_cache(maxsize=256)
def l2_held_bytes(gpu: GPU) -> float:
    """What L2 holds of data that every SM may read."""
    shares = _read("memory_kernels")["l2_share"]
    return float(gpu.l2_bytes * shares.get(gpu.compute_capability, shares["else"]))


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))
