"""Batch normalisation and pooling of images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import FieldError
from ...hardware import DType
from ...kernels.base import Call
from ...kernels.fields import set_dtype, set_numbers, truth
from ...numeric import Number
from .base import Operator, single

_INFERENCE_FLOP = 4.0  # less the mean, times the factor, times the weight, plus the bias
_TRAINING_FLOP = 8.0  # and a sum, a deviation, a square and an add before, as layernorm in kernels/memory_bound.toml
_PARAMETERS = 4.0  # of each channel: mean, variance, weight, bias


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchNorm(Call):
    """`training` goes over the values a second time, for the mean and the variance of the batch."""

    batch: Any
    channels: Any
    height: Any
    width: Any
    training: bool = False
    dtype: DType = DType.BF16

    def __post_init__(self) -> None:
        set_numbers(self, ("batch", "channels", "height", "width"))
        object.__setattr__(self, "training", truth("training", self.training))
        set_dtype(self)

    @property
    def values(self) -> Number:
        """Values in, and out."""
        return 1.0 * self.batch * self.channels * self.height * self.width


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool(Call):
    """The largest value or the mean under a window of `kernel` x `kernel`, which moves by `stride` (its size)."""

    batch: Any
    channels: Any
    height: Any
    width: Any
    kernel: Any
    stride: Any = None
    dtype: DType = DType.BF16

    def __post_init__(self) -> None:
        set_numbers(self, ("batch", "channels", "height", "width", "kernel"))
        set_numbers(self, ("stride",), optional=True)
        if self.kernel > min(self.height, self.width):
            raise FieldError(
                f"kernel must be at most height and width, {self.height} x {self.width}, got {self.kernel}"
            )
        set_dtype(self)

    @property
    def results(self) -> Number:
        """Values out."""
        step = self.stride or self.kernel
        sides = ((size - self.kernel) // step + 1 for size in (self.height, self.width))
        return 1.0 * self.batch * self.channels * next(sides) * next(sides)


def _norm_flop(p: BatchNorm) -> Number:
    return p.values * (_TRAINING_FLOP if p.training else _INFERENCE_FLOP)


def _norm_bytes(p: BatchNorm) -> Number:
    """Read, once more in training, and written; the parameters of channels."""
    return (p.values * (3.0 if p.training else 2.0) + _PARAMETERS * p.channels) * p.dtype.bytes


def _pool_flop(p: Pool) -> Number:
    return p.results * p.kernel**2


def _pool_bytes(p: Pool) -> Number:
    return (1.0 * p.batch * p.channels * p.height * p.width + p.results) * p.dtype.bytes


OPERATORS = (
    Operator(name="batchnorm", call_type=BatchNorm, flop=_norm_flop, compulsory_bytes=_norm_bytes, math=single),
    Operator(name="pool", call_type=Pool, flop=_pool_flop, compulsory_bytes=_pool_bytes, math=single),
)
