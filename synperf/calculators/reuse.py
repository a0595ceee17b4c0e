"""How often values of a product or a convolution are used, and what tiles of it move and hold.

Source: NVIDIA, "Matrix Multiplication Background User's Guide", on tiles; Hong and Kung, "I/O complexity", STOC 1981.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import FieldError, PerfError
from ..hardware import GPU
from ..kernels import conv_work, family
from ..kernels.base import Call, num_calls
from ..kernels.conv_call import Conv
from ..kernels.gemm_call import Gemm
from .amounts import count as counted
from .amounts import extent
from .tiles.reasons import advised, reasons, uses
from .tiles.traffic import Tile, Traffic, traffic, untiled_bytes

TILES = ("32", "64", "128")  # where none are given
TILE_K, STAGES = 32, 2  # two buffers, of which one is filled while the other is used
_MOST_STAGES = 64
_MOST_TILES = 16  # that a screen has room for
_TILE = re.compile(r"(\d+)(?:x(\d+))?(?:x(\d+))?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reuse:
    """`input_uses` is how often a value of A, or of the image, is multiplied; `weight_uses` one of B, or a weight.

    `input_reuse` counts the uses of an image for one output channel; of a product it is that of A for one column, 1.
    `no_reuse_bytes` move where every operand of every multiply-add is read from memory, `compulsory_bytes` where each
    value is read once.
    """

    operator: str
    input_reuse: float
    input_uses: float
    weight_reuse: float
    compulsory_bytes: float
    no_reuse_bytes: float
    shared_limit_bytes: int
    tiles: tuple[Traffic, ...]
    why: tuple[str, ...]
    advice: tuple[str, ...]


def reuse(gpu: GPU, call: Call, tiles: Sequence[str | Tile] = TILES, stages: int = STAGES) -> Reuse:
    """Uses and tiles of a `Gemm` or a `Conv`; the tile of the engine's kernel comes last, where it has one.

    Raises:
        FieldError: it is another operator, or holds columns; a tile or the stages are not what they should be.
    """
    if not isinstance(call, Gemm | Conv) or num_calls(call) is not None:
        raise FieldError(f"op: a single gemm or conv has uses to count, got {type(call).__name__.lower()}")
    count = counted("stages", stages, _MOST_STAGES)
    asked = [one if isinstance(one, Tile) else parse_tile(one) for one in tiles]
    if not 1 <= len(asked) <= _MOST_TILES:
        raise FieldError(f"tile must be given 1 to {_MOST_TILES} times, got {len(asked)}")
    product = call if isinstance(call, Gemm) else conv_work.implicit_gemm(call)
    input_reuse, input_uses, weight_reuse = _uses(call, product)
    given = tuple(traffic(product, one, count, gpu) for one in asked)
    own = _own_tile(call, product, gpu)
    compulsory, nothing = _compulsory_bytes(call), untiled_bytes(product)
    return Reuse(
        operator="gemm" if isinstance(call, Gemm) else "conv",
        input_reuse=input_reuse,
        input_uses=input_uses,
        weight_reuse=weight_reuse,
        compulsory_bytes=compulsory,
        no_reuse_bytes=nothing,
        shared_limit_bytes=gpu.shared_bytes_per_cta,
        tiles=(*given, *own),
        why=(
            *uses(call, product, input_reuse, input_uses, weight_reuse),
            *reasons((*given, *own), nothing, compulsory, gpu),
        ),
        advice=advised(product, given, asked[-1].k, count, gpu),
    )


def parse_tile(text: str) -> Tile:
    """`64` as 64 x 64, `128x256`, or `128x128x64` with the step along k.

    Raises:
        FieldError: it is none of these.
    """
    match = _TILE.fullmatch(text.strip())
    if match is None:
        raise FieldError(f"tile must be such as 64, 128x256 or 128x128x64, got {text.strip()[:60]!r}")
    m, n, k = (None if part is None else extent("tile", part) for part in match.groups())
    assert m is not None
    return Tile(m=m, n=m if n is None else n, k=TILE_K if k is None else k)


def _uses(call: Gemm | Conv, product: Gemm) -> tuple[float, float, float]:
    if isinstance(call, Gemm):
        return 1.0, float(product.n), float(product.m)
    once = float(conv_work.input_reuse(call))
    return once, once * call.out_channels / call.groups, float(conv_work.weight_reuse(call))


def _compulsory_bytes(call: Gemm | Conv) -> float:
    kind = "gemm" if isinstance(call, Gemm) else "conv"
    return float(family(kind).compulsory_bytes(call))


def _own_tile(call: Gemm | Conv, product: Gemm, gpu: GPU) -> list[Traffic]:
    """That of the kernel which the call's engine runs, if the GPU has one and it has tiles."""
    try:
        choice = family("gemm" if isinstance(call, Gemm) else "conv").launch(call, gpu).choice
    except PerfError:
        return []
    if "tile_m" not in choice:
        return []
    tile = Tile(m=choice["tile_m"], n=choice["tile_n"], k=choice["tile_k"])
    return [traffic(product, tile, choice["stages"], gpu, is_own=True)]
