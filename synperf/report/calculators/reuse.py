"""Uses of values and traffic of tiles, as text, as JSON and drawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...calculators.reuse import Reuse
from ...calculators.tiles.traffic import Traffic
from ...units import format_binary, format_quantity
from ..charts import bars
from ..text import labelled, number, paragraphs, sentences, table

_HEADS = ("tile", "CTAs", "moves", "FLOP/byte", "stages", "shared memory", "fits", "")
_RIGHT = _HEADS[1:6]


def to_dict(found: Reuse) -> dict[str, Any]:
    """Every field."""
    return asdict(found)


def to_text(found: Reuse) -> str:
    """Uses, a line for each tile, and why."""
    image = found.operator == "conv"
    lines = [
        ("input reuse", f"{found.input_reuse:.4g} for one output channel" if image else ""),
        ("input uses", f"{number(found.input_uses)} of each value of {'an image' if image else 'A'}"),
        ("weight reuse", f"{number(found.weight_reuse)} uses of each {'weight' if image else 'value of B'}"),
        ("no reuse", _both(found.no_reuse_bytes)),
        ("read once", _both(found.compulsory_bytes)),
    ]
    best = min(found.tiles, key=lambda one: (not one.fits, one.bytes))
    return paragraphs(
        f"{found.operator}: of these tiles {best.tile} moves least, {format_quantity(best.bytes, 'B', 4)}",
        labelled(lines),
        table(_HEADS, map(_row, found.tiles), right=_RIGHT),
        sentences("why", found.why),
        sentences("advice", found.advice),
    )


def _row(one: Traffic) -> list[str]:
    return [
        one.tile, f"{one.ctas:,}", format_quantity(one.bytes, "B", 4), f"{one.intensity_flop_per_byte:.4g}",
        str(one.stages), format_binary(one.shared_bytes), "yes" if one.fits else "no",
        "the kernel's own" if one.is_own else "",
    ]  # fmt: skip


def _both(size: float) -> str:
    """`12.58 MB (12 MiB)`: texts that take one for the other are 5 % off, or 7."""
    return f"{format_quantity(size, 'B', 4)} ({format_binary(size)})"


def to_svg(found: Reuse) -> str:
    """A bar for each tile, after that without reuse and before what must move."""
    groups = {"no reuse": [found.no_reuse_bytes]}
    groups |= {f"{one.tile}{', own' if one.is_own else ''}": [one.bytes] for one in found.tiles}
    groups["read once"] = [found.compulsory_bytes]
    return bars.side_by_side(
        "Bytes between memory and SMs", (), groups, lambda moved: format_quantity(moved, "B", 4),
        words=(*found.why, *found.advice),
    )  # fmt: skip
