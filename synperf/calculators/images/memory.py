"""Strides of a batch of images: channels outside (NCHW), inside (NHWC), or inside in blocks (NCHWc)."""

from __future__ import annotations

from dataclasses import dataclass

from ...hardware import DType
from ..coalescing import coalescing_of_strides

BLOCKED = "nchwc"


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """Extents in values, and those of a block of channels."""

    batch: int
    channels: int
    height: int
    width: int
    dtype: DType
    block: int

    @property
    def blocks(self) -> int:
        """Blocks of channels, the last one padded."""
        return -(-self.channels // self.block)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Strides in values; `sectors_of_channels` is what up to 32 lanes touch that read channels of one
    point, `sectors_of_row` that read neighbouring points of one channel. `index`
    is where the point that was asked for lies, in values.
    """

    strides: dict[str, int]
    size_bytes: float
    sectors_of_channels: int
    sectors_of_row: int
    index: int


Point = tuple[int, int, int, int]  # n, c, h, w


def strides(of: Images, layout: str) -> dict[str, int]:
    """By the name of an extent: how many values apart neighbours along it lie; `c_block` from block to block."""
    area = of.height * of.width
    if layout == "nchw":
        return {"n": of.channels * area, "c": area, "h": of.width, "w": 1}
    if layout == "nhwc":
        return {"n": of.channels * area, "c": 1, "h": of.width * of.channels, "w": of.channels}
    b = of.block
    return {"n": of.blocks * b * area, "c_block": area * b, "h": of.width * b, "w": b, "c": 1}


def index(of: Images, layout: str, point: Point) -> int:
    """Where a value lies, in values from the first."""
    n, c, h, w = point
    far = strides(of, layout)
    inside = c * far["c"] if layout != BLOCKED else c // of.block * far["c_block"] + c % of.block
    return n * far["n"] + inside + h * far["h"] + w * far["w"]


def placed(of: Images, layout: str, point: Point) -> Placed:
    """A batch in one layout."""
    far, width = strides(of, layout), int(of.dtype.bytes)
    return Placed(
        strides=far,
        size_bytes=of.batch * far["n"] * of.dtype.bytes,
        sectors_of_channels=_sectors(width, far["c"], min(32, of.block if layout == BLOCKED else of.channels)),
        sectors_of_row=_sectors(width, far["w"], min(32, of.width)),
        index=index(of, layout, point),
    )


def _sectors(width: int, stride: int, lanes: int) -> int:
    return int(coalescing_of_strides(width, stride, lanes=lanes).sectors)
