"""Convolutions of one to three sides, and transposed ones. Sides are written with `x` between them: 16x56x56.

Source: PyTorch documentation, Conv1d, Conv3d and ConvTranspose2d, for the sizes of results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from ...errors import FieldError
from ...hardware import DType
from ...kernels.base import Call
from ...kernels.fields import set_dtype, set_numbers, whole, whole_or_none
from ...numeric import Number
from .base import Operator, own_format

Sides = tuple[int, ...]
_MOST_SIDES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Convolution(Call):
    """`kernel`, `stride`, `padding` and `dilation` have a number for each side of `size`, or one for all."""

    batch: Any
    in_channels: Any
    out_channels: Any
    size: Any
    kernel: Any
    stride: Any = 1
    padding: Any = 0
    dilation: Any = 1
    groups: Any = 1
    dtype: DType = DType.BF16

    NUM_SIDES: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        set_numbers(self, ("batch", "in_channels", "out_channels", "groups"))
        size = _sides("size", self.size, whole)
        if self.NUM_SIDES not in (None, len(size)) or len(size) > _MOST_SIDES:
            raise FieldError(f"size must have {self.NUM_SIDES or '1 to 3'} sides, got {len(size)}: {self.size}")
        object.__setattr__(self, "size", size)
        for name, read in (("kernel", whole), ("stride", whole), ("padding", whole_or_none), ("dilation", whole)):
            given = _sides(name, getattr(self, name), read)
            if len(given) not in (1, len(size)):
                raise FieldError(f"{name} must have 1 number or the {len(size)} of size, got {len(given)}")
            object.__setattr__(self, name, given * len(size) if len(given) == 1 else given)
        for name in ("in_channels", "out_channels"):
            if getattr(self, name) % self.groups:
                raise FieldError(f"groups must divide {name}, which are {getattr(self, name)}, got {self.groups}")
        set_dtype(self)
        if min(self.result()) < 1:
            raise FieldError(f"kernel must fit into the padded size, got {self.kernel} for {self.size}")

    def result(self) -> Sides:
        """Sides of a result."""
        sides = zip(self.size, self.kernel, self.stride, self.padding, self.dilation, strict=True)
        return tuple((n + 2 * pad - far * (k - 1) - 1) // step + 1 for n, k, step, pad, far in sides)

    def products(self) -> Number:
        """Multiply-adds: a tap of the kernel and an input channel of the group for each value of the result."""
        each = 1.0 * self.in_channels / self.groups * prod(self.kernel)
        return self.batch * self.out_channels * prod(self.result()) * each


@dataclass(frozen=True, slots=True, kw_only=True)
class Conv1d(_Convolution):
    """Over one side, such as time."""

    NUM_SIDES: ClassVar[int | None] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Conv3d(_Convolution):
    """Over three sides, such as the frames of a film."""

    NUM_SIDES: ClassVar[int | None] = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvTranspose(_Convolution):
    """The other way round: every value of the image meets every tap of the kernel, and the result is larger."""

    def result(self) -> Sides:
        """Sides of a result."""
        sides = zip(self.size, self.kernel, self.stride, self.padding, self.dilation, strict=True)
        return tuple((n - 1) * step - 2 * pad + far * (k - 1) + 1 for n, k, step, pad, far in sides)

    def products(self) -> Number:
        """Multiply-adds: a tap of the kernel and an output channel of the group for each value of the image."""
        each = 1.0 * self.out_channels / self.groups * prod(self.kernel)
        return self.batch * self.in_channels * prod(self.size) * each


def _sides(name: str, value: Any, read: Callable[[str, Any], Any]) -> Sides:
    """One number or several, as text with `x` between them, or as a list.

    Raises:
        FieldError: one is none.
    """
    parts = value.lower().split("x") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple):
        parts = [parts]
    if not parts:
        raise FieldError(f"{name} must have 1 to 3 numbers, got none")
    return tuple(int(read(name, part)) for part in parts)


def _bytes(p: _Convolution) -> Number:
    """Image and kernels read once, the result written once."""
    image, result = p.in_channels * prod(p.size), p.out_channels * prod(p.result())
    kernels = 1.0 * p.out_channels * p.in_channels / p.groups * prod(p.kernel)
    return (p.batch * (image + result) + kernels) * p.dtype.bytes


OPERATORS = tuple(
    Operator(name=name, call_type=kind, flop=lambda p: 2.0 * p.products(), compulsory_bytes=_bytes, math=own_format)
    for name, kind in (("conv1d", Conv1d), ("conv3d", Conv3d), ("conv_transpose", ConvTranspose))
)
