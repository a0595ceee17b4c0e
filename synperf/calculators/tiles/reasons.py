"""Why tiles move what they move, and which one a CTA can hold, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...hardware import GPU
from ...kernels.conv_call import Conv
from ...kernels.gemm_call import Gemm
from ...units import format_binary, format_percent, format_quantity
from .traffic import Tile, Traffic, largest_that_fits, traffic


def uses(
    call: Gemm | Conv, product: Gemm, input_reuse: float, input_uses: float, weight_reuse: float
) -> tuple[str, ...]:
    """How often values are used, and by what."""
    if isinstance(call, Gemm):
        return (f"a value of A meets the {product.n:,} columns of B, one of B the {product.m:,} rows of A",)
    channels = call.out_channels // call.groups
    return (
        f"a value of the image is under {input_reuse:.4g} kernel positions in the mean, for each of {channels:,} "
        f"output channels of its group: {input_uses:,.6g} uses",
        f"a weight is used at every point of every result: {call.batch:,} x {int(call.out_height):,} x "
        f"{int(call.out_width):,} = {weight_reuse:,.6g} times",
        f"as a product: m {product.m:,}, n {product.n:,}, k {product.k:,}, {product.batch:,} of them; its A is "
        "gathered from the image, and tiles read it as if it were stored",
    )


def reasons(tiles: Sequence[Traffic], no_reuse_bytes: float, compulsory_bytes: float, gpu: GPU) -> tuple[str, ...]:
    """What tiles save, between no reuse and all of it."""
    moved = [format_quantity(value, "B", 4) for value in (no_reuse_bytes, compulsory_bytes)]
    said = [f"without any reuse {moved[0]} move; read once, {moved[1]}, which no tile is below unless caches serve it"]
    for one in tiles:
        said.append(f"{one.tile}: {format_quantity(one.bytes, 'B', 4)} from L2 or DRAM to the SMs, "
                    f"{no_reuse_bytes / one.bytes:.3g} times less than without reuse")  # fmt: skip
    return (*said, *_held(tiles, gpu))


def _held(tiles: Sequence[Traffic], gpu: GPU) -> Iterator[str]:
    for one in tiles:
        room = f"{format_binary(one.shared_bytes)} of the {format_binary(gpu.shared_bytes_per_cta)} that a CTA may have"
        if not one.fits:
            sums = f"{one.accumulators:,} sums in registers"
            yield f"{one.tile} with {one.stages} stages does not fit: {room}, and {sums}"


def advised(product: Gemm, tiles: Sequence[Traffic], step: int, stages: int, gpu: GPU) -> tuple[str, ...]:
    """The largest tile that fits, and the stages at which one that does not would."""
    return (*_fewer_stages(product, tiles, gpu), *_larger(product, tiles, step, stages, gpu))


def _fewer_stages(product: Gemm, tiles: Sequence[Traffic], gpu: GPU) -> Iterator[str]:
    for one in tiles:
        m, n, k = map(int, one.tile.split("x"))
        fitting = (s for s in range(one.stages - 1, 0, -1) if traffic(product, Tile(m=m, n=n, k=k), s, gpu).fits)
        stages = None if one.fits else next(fitting, None)
        if stages is not None:
            yield f"{one.tile} fits with {stages} stages in the place of {one.stages}"


def _larger(product: Gemm, tiles: Sequence[Traffic], step: int, stages: int, gpu: GPU) -> Iterator[str]:
    best = largest_that_fits(product, step, stages, gpu)
    least = min((one.bytes for one in tiles if one.fits), default=None)
    if best is None or (least is not None and best.bytes >= least):
        yield "none: no square tile that fits moves less" if best is not None else f"a smaller step than {step} along k"
        return
    saved = "" if least is None else f", {format_percent(1 - best.bytes / least)} less than the best above"
    yield (f"{best.tile} fits with {stages} stages in {format_binary(best.shared_bytes)}: "
           f"{format_quantity(best.bytes, 'B', 4)}{saved}")  # fmt: skip
