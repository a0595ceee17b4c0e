"""Limits of one SM by compute capability, from compute_capability.toml; of other makers' GPUs by compiler target."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

from ..errors import UnknownNameError
from ..light_classes import dataclass

_FILE = Path(__file__).parent / "compute_capability.toml"
_TABLE = re.compile(r'^\["?([\w.]+)"?\]', re.M)
_COMMON, _SOURCES = "common", "sources"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeCapability:
    """What one SM of this compute capability holds at once, and how it hands it out."""

    key: str
    maker: str  # a table of makers.toml
    warp_size: int  # threads
    fp32_lanes_per_sm: int
    xu_op_per_clk_per_sm: int
    max_ctas_per_sm: int
    max_warps_per_sm: int
    max_threads_per_sm: int
    max_threads_per_cta: int
    shared_bytes_per_sm: int
    shared_bytes_per_cta: int  # with opt-in
    shared_bytes_without_opt_in: int
    reserved_shared_bytes_per_cta: int
    shared_granularity_bytes: int
    shared_bytes_per_clk_per_sm: int
    carveouts_bytes: tuple[int, ...]  # settings of shared memory, the rest is L1
    registers_per_sm: int
    max_registers_per_cta: int
    max_registers_per_thread: int
    register_unit_per_warp: int
    warp_unit: int  # sub-partitions, each with its scheduler
    max_cluster_ctas: int
    portable_cluster_ctas: int
    max_grid_ctas: tuple[int, int, int]


GPU_FIELDS = (  # what every GPU of the capability inherits
    "warp_size", "xu_op_per_clk_per_sm", "shared_bytes_per_clk_per_sm", "shared_bytes_per_sm", "shared_bytes_per_cta",
    "reserved_shared_bytes_per_cta", "shared_granularity_bytes", "registers_per_sm", "max_registers_per_thread",
    "max_threads_per_cta", "max_warps_per_sm", "max_ctas_per_sm",
)  # fmt: skip


def capabilities() -> tuple[str, ...]:
    """Every compute capability in the table, those of NVIDIA ascending, then the targets of other makers."""
    return tuple(key for key in _tables() if not key.startswith((_COMMON, _SOURCES)))


@cache
def capability(key: str) -> ComputeCapability:
    """The limits of one SM, e.g. of `"9.0"` or `"gfx942"`.

    Raises:
        UnknownNameError: not in the table.
    """
    if key not in capabilities():
        raise UnknownNameError.among("compute capability", key[:20], capabilities())
    fields = _table(_COMMON) | _table(key)
    lists = {name: tuple(fields[name]) for name in ("carveouts_bytes", "max_grid_ctas")}
    return ComputeCapability(key=key, **(fields | lists))


def sources(maker: str) -> Mapping[str, str]:
    """Where each field of the table comes from, for the GPUs of one maker."""
    own = f"{_SOURCES}_of.{maker}"
    return _table(_SOURCES) | (_table(own) if own in _tables() else {})


@cache
def major_minor(key: str) -> tuple[int, int]:
    """`"9.0"` as (9, 0); (0, 0) for the target of another maker, which is no compute capability."""
    major, _, minor = key.partition(".")
    return (int(major), int(minor or 0)) if major.isdigit() else (0, 0)


def apart(one: str, other: str) -> float:
    """How far two compute capabilities are from each other, in minor versions; infinite between other targets."""
    if one == other:
        return 0.0
    (major, minor), (other_major, other_minor) = major_minor(one), major_minor(other)
    return float(abs((major - other_major) * 10 + minor - other_minor)) if major and other_major else inf


@cache
def _tables() -> dict[str, str]:
    """The text of each table of the file by its name; few of them are needed, and it takes 5 ms to read all."""
    parts = _TABLE.split(_FILE.read_text(encoding="utf-8"))[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@cache
def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(_tables()[name])
