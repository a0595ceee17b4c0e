"""The call of the convolution family: its fields, what they default to, and what they refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import FieldError
from ..hardware import DType
from ..numeric import Number, floor
from .base import Call, held
from .fields import MAX_EXTENT, refuse, same_length, set_dtype, set_names, set_numbers, whole_or_none

LAYOUTS = ("nchw", "nhwc")
FORMATS = (DType.FP32, DType.TF32, DType.FP16, DType.BF16)
_SIZES = ("batch", "in_channels", "out_channels", "height", "width", "kernel_h", "kernel_w")
_STEPS = ("stride", "dilation", "groups")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conv(Call):
    """2-D convolution of `batch` images: numbers, or arrays of one length for many calls at once.

    `padding` is zeros on every side of an image. Channels on both sides fall into `groups` of equal size; an output
    sees the inputs of its own group. `layout` is that of the images in memory: `nchw` or `nhwc`.

    Raises:
        FieldError: a field is out of range, does not go with another, or a format or layout is unknown.
    """

    batch: Any
    in_channels: Any
    out_channels: Any
    height: Any
    width: Any
    kernel_h: Any
    kernel_w: Any
    stride: Any = 1
    padding: Any = 0
    dilation: Any = 1
    groups: Any = 1
    dtype: DType = DType.BF16
    layout: str = LAYOUTS[0]
    engine: str | None = None
    kernel: str | None = None

    def __post_init__(self) -> None:
        were_plain = set_numbers(self, _SIZES + _STEPS)
        if type(self.padding) is not int or self.padding != 0:
            object.__setattr__(self, "padding", whole_or_none("padding", self.padding))
        set_dtype(self)
        if self.dtype not in FORMATS:
            raise FieldError(f"dtype must be one of {', '.join(FORMATS)}, got {self.dtype}")
        _set_layout(self)
        set_names(self)
        if not were_plain or type(self.padding) is not int:
            same_length(self, (*_SIZES, *_STEPS, "padding"))
        _check(self)

    @property
    def out_height(self) -> Number:
        """Rows of a result."""
        return _out(self)[0]

    @property
    def out_width(self) -> Number:
        """Columns of a result."""
        return _out(self)[1]


@held
def _out(p: Conv) -> tuple[Number, Number]:
    return _positions(p.height, p.kernel_h, p), _positions(p.width, p.kernel_w, p)


def _positions(size: Number, kernel: Number, p: Conv) -> Number:
    """How often a kernel fits along a padded side."""
    return floor((size + 2.0 * p.padding - span(kernel, p)) / p.stride) + 1.0


def span(kernel: Number, p: Conv) -> Number:
    """Values from the first to the last tap of a kernel along a side."""
    return 1.0 * p.dilation * (kernel - 1) + 1


def _set_layout(p: Conv) -> None:
    name = str(p.layout).strip().lower()
    if name not in LAYOUTS:
        raise FieldError(f"layout must be one of {', '.join(LAYOUTS)}, got {p.layout!r}")
    object.__setattr__(p, "layout", name)


def _check(p: Conv) -> None:
    """Fields that must go with one another.

    Raises:
        FieldError: naming both, and the row where they are columns.
    """
    for name in ("in_channels", "out_channels"):
        channels = getattr(p, name)
        refuse(channels % p.groups != 0, f"groups must divide {name}, which are {{}}, got {{}}", channels, p.groups)
    for name, size in (("kernel_h", "height"), ("kernel_w", "width")):
        reach, padded = span(getattr(p, name), p), getattr(p, size) + 2 * p.padding
        sentence = f"{name} must not reach beyond the padded {size}, which is {{:.0f}}, got a reach of {{:.0f}}"
        refuse(reach > padded, sentence, padded, reach)
    for what, points in (
        ("batch x height x width", 1.0 * p.batch * p.height * p.width),
        ("batch x height x width of the result", p.batch * p.out_height * p.out_width),
        ("in_channels / groups x kernel_h x kernel_w", 1.0 * p.in_channels / p.groups * p.kernel_h * p.kernel_w),
    ):
        refuse(points > MAX_EXTENT, f"{what} must be at most {MAX_EXTENT}, got {{:.6g}}", points)
