"""Which tool shows a bottleneck, and what profiling costs. Tools are in profiling.toml.

Counters are collected in passes: a kernel is run once for each, and what it wrote is put back before the next.

Source: NVIDIA, "Nsight Compute Profiling Guide", "Replay".
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import UnknownNameError
from ..hardware import GPU
from ..units import format_time
from .amounts import count, not_negative, positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """What it sees and costs; `key` is its name in the table."""

    key: str
    name: str
    sees: str
    cost: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bottleneck:
    """What it means, the tools that show it, the first one first, where to look, and which commands here say more."""

    key: str
    means: str
    tools: tuple[Tool, ...]
    look: str
    here: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Kernels whose counters take `passes`: time on the GPU without and with the profiler.

    `restore_s` is for saving what a kernel writes once, and putting it back before every pass but the first.
    """

    kernels: int
    passes: int
    plain_s: float
    restore_s: float
    total_s: float
    slowdown: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiling:
    """The bottleneck that was asked for, or all of them."""

    bottlenecks: tuple[Bottleneck, ...]
    replay: Replay | None
    why: tuple[str, ...]
    advice: tuple[str, ...]


def bottlenecks() -> Mapping[str, Bottleneck]:
    """Every bottleneck by its name."""
    tools = {key: Tool(key=key, **entry) for key, entry in _table()["tools"].items()}
    return {
        key: Bottleneck(key=key, **(entry | {"tools": tuple(tools[tool] for tool in entry["tools"])}))
        for key, entry in _table()["bottlenecks"].items()
    }


def profiling(bottleneck: str | None = None, replay: Replay | None = None) -> Profiling:
    """The tools for a bottleneck, or for all; with the cost of counters, if it is known.

    Raises:
        UnknownNameError: no such bottleneck.
    """
    known = bottlenecks()
    if bottleneck is not None and bottleneck not in known:
        raise UnknownNameError.among("bottleneck", bottleneck, known)
    chosen = tuple(known.values()) if bottleneck is None else (known[bottleneck],)
    return Profiling(
        bottlenecks=chosen, replay=replay, why=tuple(_why(chosen, replay)), advice=tuple(_advice(chosen, replay))
    )


def replayed(gpu: GPU, *, passes: int, kernel_s: float, kernels: int = 1, written_bytes: float = 0.0) -> Replay:
    """What counters of `kernels` alike cost; each writes `written_bytes`, which are copied at the bandwidth of DRAM.

    Raises:
        FieldError: a number is out of range.
    """
    number, times = count("kernels", kernels), count("passes", passes, 10_000)
    positive(kernel_s=kernel_s)
    not_negative(written_bytes=written_bytes)
    copy = 2 * written_bytes / gpu.dram_bytes_per_s  # read and written
    restore = number * copy * times if times > 1 else 0.0  # saved once, put back before each pass but the first
    plain = number * kernel_s
    total = plain * times + restore
    return Replay(kernels=number, passes=times, plain_s=plain, restore_s=restore, total_s=total, slowdown=total / plain)


def _why(chosen: tuple[Bottleneck, ...], replay: Replay | None) -> Iterator[str]:
    if replay is not None:
        yield (
            f"{replay.kernels:,} kernels of {format_time(replay.plain_s / replay.kernels)} run {replay.passes} times "
            f"each, and {format_time(replay.restore_s)} go into putting memory back: {format_time(replay.total_s)} in "
            f"the place of {format_time(replay.plain_s)}, {replay.slowdown:.3g} times as long, without the host's part"
        )
    for tool in _tools(chosen):
        yield f"{tool.name} sees {tool.sees}; cost: {tool.cost}"


def _tools(chosen: tuple[Bottleneck, ...]) -> tuple[Tool, ...]:
    """Each tool once, in the order in which they are named."""
    return tuple({tool.key: tool for one in chosen for tool in one.tools}.values())


def _advice(chosen: tuple[Bottleneck, ...], replay: Replay | None) -> Iterator[str]:
    yield "begin with a timeline (Nsight Systems, PyTorch Profiler); counters only for the kernels that take most of it"
    if replay is not None and replay.passes > 1:
        each = replay.total_s / replay.passes
        yield f"fewer sections are fewer passes (--section, --metrics): each pass less saves {format_time(each)}"
    if len(chosen) == 1:
        yield f"without a profiler: {chosen[0].here}"


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
