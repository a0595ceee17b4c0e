"""Whether to merge several small kernels into one launch: their tiles then share waves.

Waves before are the sum of ceil(tiles / slots) over the kernels, after ceil(sum of tiles / slots), where slots are the
CTAs that the GPU holds at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .amounts import all_positive, extent


@dataclass(frozen=True, slots=True, kw_only=True)
class HorizontalFusion:
    """Waves and launches, apart and merged; `speedup` is the ratio of waves."""

    tiles: tuple[int, ...]
    slots: int
    waves_before: int
    waves_after: int
    launches_before: int
    launches_after: int
    launches_saved: int
    speedup: float
    decision: str
    why: tuple[str, ...]
    advice: tuple[str, ...]


def horizontal_fusion(tiles: Sequence[int], *, slots: int) -> HorizontalFusion:
    """What merging kernels of so many tiles each saves on a GPU with so many slots.

    Raises:
        FieldError: tiles or slots are not whole numbers from 1.
    """
    all_positive("tiles", tiles)
    counts = [extent("tiles", one) for one in tiles]
    room = extent("slots", slots)
    apart, merged = sum(-(-one // room) for one in counts), -(-sum(counts) // room)
    return HorizontalFusion(
        tiles=tuple(counts),
        slots=room,
        waves_before=apart,
        waves_after=merged,
        launches_before=len(counts),
        launches_after=1,
        launches_saved=len(counts) - 1,
        speedup=apart / merged,
        decision="fuse" if merged < apart else "do not fuse",
        why=(
            f"{len(counts)} kernels of {min(counts)} to {max(counts)} tiles fill {apart} waves of {room} slots, one "
            f"kernel after another; their {sum(counts)} tiles together fill {merged}",
        ),
        advice=_advice(apart, merged, len(counts)),
    )


def _advice(apart: int, merged: int, kernels: int) -> tuple[str, ...]:
    if merged < apart:
        return ("use a grouped or batched GEMM, or one kernel that takes a list of problems",)
    return (f"merging saves {kernels - 1} launches and no wave: a CUDA graph saves as much",)
