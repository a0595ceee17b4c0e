"""Where a value of a batch of images lies in NCHW, NHWC and NCHWc, what a conversion costs, and which layout to keep.

Source: NVIDIA, "Convolutional Layers User's Guide", "Tensor Layouts In Memory: NCHW vs NHWC"; blocked layouts: oneDNN
documentation, "Understanding Memory Formats".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import FieldError, UnknownNameError
from ..hardware import GPU, DType
from ..kernels.conv_call import LAYOUTS
from ..kernels.fields import dtype_of
from .amounts import extent
from .images.conversion import Conversion, conversion
from .images.decision import Target, because, preferred
from .images.memory import BLOCKED, Images, Placed, Point, placed
from .images.reasons import advised, of_conversion, reading

_ALL = (*LAYOUTS, BLOCKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """One batch of images in each layout, by name, and a conversion between two of them; `point` is n, c, h, w."""

    images: Images
    point: Point
    size_bytes: float  # without padded channels
    layouts: Mapping[str, Placed]
    preferred_layout: str
    conversion: Conversion
    why: tuple[str, ...]
    advice: tuple[str, ...]


def layout(
    *,
    batch: int,
    channels: int,
    height: int,
    width: int,
    dtype: DType | str = DType.FP16,
    gpu: GPU | None = None,
    cpu: str | None = None,
    source: str | None = None,
    target: str | None = None,
    block: int | None = None,
    point: Sequence[int] = (0, 0, 0, 0),
    gain_s: float | None = None,
    uses: int | None = None,
    framework: str | None = None,
    depthwise_share: float = 0.0,
) -> Layout:
    """A batch of images on a GPU, or a CPU with avx512, avx2 or neon.

    `source` is by default what the framework has, `target` what the hardware is fastest in, `block` the channels of a
    vector. `gain_s` is what one use gains by the target layout, `uses` how many there are; `depthwise_share` is that of
    FLOP in depthwise layers.

    Raises:
        FieldError: a field is not what it should be.
        UnsupportedError: the GPU does not multiply the format.
    """
    kind = dtype_of("dtype", dtype)
    if kind.bytes < 1:
        raise FieldError(f"dtype must have at least one byte a value, got {kind}")
    on = Target(gpu=gpu, cpu=cpu, framework=framework, depthwise_share=depthwise_share)
    sizes = {"batch": batch, "channels": channels, "height": height, "width": width}
    of = Images(
        **{name: extent(name, value) for name, value in sizes.items()},
        dtype=kind,
        block=on.block(kind) if block is None else extent("block", block),
    )
    best, where = preferred(on, kind), _point(point, of)
    layouts = {name: placed(of, name, where) for name in _ALL}
    ends = (
        _known("source", on.default_layout if source is None else source),
        _known("target", best if target is None else target),
    )
    made = conversion((ends[0], layouts[ends[0]]), (ends[1], layouts[ends[1]]), kind, gpu, gain_s, uses)
    return Layout(
        images=of,
        point=where,
        size_bytes=layouts[LAYOUTS[0]].size_bytes,
        layouts=layouts,
        preferred_layout=best,
        conversion=made,
        why=(*because(on, kind), *reading(of, layouts), *of_conversion(made)),
        advice=tuple(advised(made, best, on)),
    )


def _known(field: str, name: str) -> str:
    found = name.strip().lower()
    if found not in _ALL:
        raise FieldError(f"{field}: {UnknownNameError.among('layout', name[:60], _ALL)}")
    return found


def _point(point: Sequence[Any], of: Images) -> Point:
    """n, c, h, w inside the batch."""
    ends = (of.batch, of.channels, of.height, of.width)
    if len(point) != len(ends):
        raise FieldError(f"at must be n,c,h,w, got {len(point)} numbers")
    for name, value, end in zip("nchw", point, ends, strict=True):
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < end:
            raise FieldError(f"at: {name} must be 0 to {end - 1}, got {str(value)[:60]}")
    n, c, h, w = point
    return n, c, h, w
