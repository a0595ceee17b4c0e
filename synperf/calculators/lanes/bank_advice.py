"""What takes conflicts away: the least padding, or a permutation of rows, each counted again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...hardware.capability import ComputeCapability
from ...units import counted, format_percent
from .banked import Banks, Padding, of_pattern
from .conflicts import WORD, num_banks
from .swizzle import swizzle
from .tile import Tile


def advised(found: Banks, tile: Tile | None, able: ComputeCapability) -> Banks:
    """The answer with what would make it better; without a tile nothing can be padded."""
    if not found.aligned:
        return replace(found, advice=(f"begin every access at a multiple of {found.access_bytes} bytes",))
    if not found.extra_wavefronts:
        return replace(found, advice=("none needed: there is no conflict",))
    if tile is None:
        return replace(found, advice=("write the addresses with `pitch` and give --pitch: paddings of it are tried",))
    pad, formula = _least_padding(found, tile, able), _permuted(tile, able)
    said = [*_of_padding(found, pad, tile), *_of_swizzle(found, formula)]
    return replace(found, padding=pad, swizzle=formula, advice=tuple(said) or (_NONE,))


_NONE = "no padding takes the conflict away: give neighbouring lanes neighbouring words"


def _least_padding(found: Banks, tile: Tile, able: ComputeCapability) -> Padding | None:
    """The smallest of the paddings that leave fewest wavefronts, if they leave fewer.

    Pads that are a line of all banks apart are in the same banks.
    """
    size = tile.access.element_bytes
    best = None
    for pad in range(1, num_banks(able) * WORD // size + 1):
        changed = tile.at(tile.pitch + pad)
        if changed.misaligned is not None:
            continue
        new = of_pattern(changed, able)
        if new.wavefronts < (found if best is None else best).wavefronts:
            extra = None if tile.rows is None else tile.rows * pad * size
            best = Padding(pad=pad, pitch=tile.pitch + pad, degree=new.degree, wavefronts=new.wavefronts,
                           extra_bytes=extra, extra_share=pad / tile.pitch)  # fmt: skip
        if best is not None and best.wavefronts == found.minimum_wavefronts:
            break
    return best


def _of_padding(found: Banks, pad: Padding | None, tile: Tile) -> Iterator[str]:
    if pad is None:
        return
    cost = "" if pad.extra_bytes is None else f", {pad.extra_bytes:,} bytes more ({format_percent(pad.extra_share, 4)})"
    shape = "" if tile.rows is None else f", [{tile.rows}][{pad.pitch}]"
    unit = counted(pad.pad, "element")
    yield (f"pad rows by {unit} to {pad.pitch:,}{shape}: {pad.degree}-way, {counted(pad.wavefronts, 'wavefront')} in "
           f"the place of {found.wavefronts:,}{cost}")  # fmt: skip


def _permuted(tile: Tile, able: ComputeCapability) -> str | None:
    """The formula of a permutation that frees the tile's pattern of conflicts, and walks along rows too."""
    made = swizzle(tile, num_banks(able))
    if made is None or of_pattern(made.down(tile), able).extra_wavefronts:
        return None
    if any(of_pattern(row, able).extra_wavefronts for row in made.along(able.warp_size)):
        return None
    return made.formula


def _of_swizzle(found: Banks, formula: str | None) -> Iterator[str]:
    if formula is not None:
        yield (f"or keep what belongs in a column at {formula}: {counted(found.minimum_wavefronts, 'wavefront')}, "
               "and as few along rows, for no more memory")  # fmt: skip
