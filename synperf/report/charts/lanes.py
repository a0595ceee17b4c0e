"""Blocks in time, one lane for each stage, stream, device or warp."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...units import format_time
from .. import svg
from ..axis import ticks
from .frame import MARGIN, MUTED, RULE, TOP, WIDTH, colour, document

_LANE, _GAP = 24.0, 6.0


@dataclass(frozen=True, slots=True)
class Block:
    """From start to end, in the unit of the axis; `kind` is a place in the legend, `label` is written where it fits."""

    start: float
    end: float
    kind: int
    label: str = ""


def draw(
    title: str,
    kinds: Sequence[str],
    lanes: Mapping[str, Sequence[Block]],
    shown: Callable[[float], str] = format_time,
    words: Sequence[str] = (),
) -> str:
    """Lanes below each other over one axis from 0 to the last end; what is grey is idle."""
    end = max((block.end for blocks in lanes.values() for block in blocks), default=0.0) or 1.0
    left = MARGIN + min(200.0, max((svg.width_of(name) for name in lanes), default=0.0) + 12)
    scale = (WIDTH - MARGIN - left) / end
    body, y = [], TOP
    for name, blocks in lanes.items():
        body.append(svg.text(left - 8, y + 16, name, anchor="end"))
        body.append(svg.rect(left, y, end * scale, _LANE, MUTED))
        body += [part for block in blocks for part in _block(block, left, y, scale)]
        y += _LANE + _GAP
    body += _axis(end, left, y, scale, shown)
    return document(title, body, y + 18, kinds, words)


def _block(block: Block, left: float, y: float, scale: float) -> Iterator[str]:
    width = (block.end - block.start) * scale
    x = left + block.start * scale
    yield svg.rect(x, y, max(width - (1 if width > 3 else 0), 0.25), _LANE, colour(block.kind))
    if block.label and svg.width_of(block.label, 11) < width:
        yield svg.text(x + width / 2, y + 16, block.label, size=11, anchor="middle", fill="#fff")


def _axis(end: float, left: float, y: float, scale: float, shown: Callable[[float], str]) -> Iterator[str]:
    for tick in ticks(end, 6):
        yield svg.rect(left + tick * scale, TOP, 0.5, y - TOP, RULE)
        yield svg.text(left + tick * scale, y + 12, shown(tick), size=11, anchor="middle")
