"""Traffic of a tiled product: A is read for every column of tiles, B for every row of them, C is written once."""

from __future__ import annotations

from dataclasses import dataclass

from ...hardware import GPU
from ...hardware.capability import capability
from ...kernels.gemm_call import Gemm
from ...kernels.gemm_costs import operand_value_bytes
from ...numeric import Number, ceil_div


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """The part of the result that a CTA computes, and the step along k in which it loads operands."""

    m: int
    n: int
    k: int

    def __str__(self) -> str:
        return f"{self.m}x{self.n}x{self.k}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """One tile: bytes that all CTAs move, FLOP per byte of them, and what one CTA holds.

    `shared_bytes` are those of `stages` buffers of operands, `accumulators` the sums in registers. It `fits` where a
    CTA may have that much of both.
    """

    tile: str
    is_own: bool  # the tile that the engine's kernel has
    stages: int
    ctas: int
    bytes: float
    intensity_flop_per_byte: float
    shared_bytes: int
    accumulators: int
    fits: bool


def traffic(p: Gemm, tile: Tile, stages: int, gpu: GPU, *, is_own: bool = False) -> Traffic:
    """What tiles of a product move and hold."""
    a_bytes, b_bytes, c_bytes = operand_value_bytes(p.dtype, p.out_dtype)
    across, down = ceil_div(p.n, tile.n), ceil_div(p.m, tile.m)
    loads = 1.0 * p.batch * p.k * (p.m * across * a_bytes + p.n * down * b_bytes)
    moved = loads + 1.0 * p.batch * p.m * p.n * c_bytes
    shared, sums = int(stages * tile.k * (tile.m * a_bytes + tile.n * b_bytes)), tile.m * tile.n
    return Traffic(
        tile=str(tile),
        is_own=is_own,
        stages=stages,
        ctas=int(across * down * p.batch),
        bytes=moved,
        intensity_flop_per_byte=2.0 * p.batch * p.m * p.n * p.k / moved,
        shared_bytes=shared,
        accumulators=sums,
        fits=shared <= gpu.shared_bytes_per_cta and sums < capability(gpu.compute_capability).max_registers_per_cta,
    )


def largest_that_fits(p: Gemm, step: int, stages: int, gpu: GPU) -> Traffic | None:
    """The largest square tile with a power of two as its side that a CTA can hold; None where there is none."""
    found = None
    side = 1
    while side <= gpu.shared_bytes_per_cta:
        new = traffic(p, Tile(m=side, n=side, k=step), stages, gpu)
        found, side = (new if new.fits else found), 2 * side
    return found


def untiled_bytes(p: Gemm) -> Number:
    """Both operands of every multiply-add read from memory, the result written once."""
    a_bytes, b_bytes, c_bytes = operand_value_bytes(p.dtype, p.out_dtype)
    return 1.0 * p.batch * p.m * p.n * (p.k * (a_bytes + b_bytes) + c_bytes)
