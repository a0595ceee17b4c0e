"""The rates of a GPU in one number format, each worked out once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from .dtype import DType
from .gpu import GPU


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rates:
    """What one SM does per second at the published clock on each of its pipes, and the bounds of the whole GPU."""

    is_tensor: bool  # which pipe multiplies the format: tensor, or else FMA
    value_bytes: float  # of one value of the format, of a weight in mixed formats, without scales
    activation_bytes: float  # of one value that weights are multiplied by
    math_flop_per_s: float  # of one SM, on the pipe that multiplies the format
    fma_flop_per_s: float  # of one SM, beside the products
    xu_op_per_s: float
    shared_bytes_per_s: float
    l2_port_bytes_per_s: float  # between one SM and L2
    peak_flop_per_s: float  # of all SMs
    max_flop_per_s: float  # of all SMs, at the highest clock
    ridge_flop_per_byte: float


@lru_cache(maxsize=4096)
def rates(gpu: GPU, dtype: DType) -> Rates:
    """The rates of a GPU in a format.

    Raises:
        UnsupportedError: the GPU does not multiply the format.
    """
    return Rates(
        is_tensor=gpu.math_pipe(dtype) == "tensor",
        value_bytes=dtype.bytes,
        activation_bytes=dtype.activations.bytes,
        math_flop_per_s=gpu.flop_per_clk_per_sm(dtype) * gpu.clock_hz,
        fma_flop_per_s=gpu.other_fma_flop_per_clk_per_sm(dtype) * gpu.clock_hz,
        xu_op_per_s=gpu.xu_op_per_clk_per_sm * gpu.clock_hz,
        shared_bytes_per_s=gpu.shared_bytes_per_clk_per_sm * gpu.clock_hz,
        l2_port_bytes_per_s=gpu.l2_port_bytes_per_s,
        peak_flop_per_s=gpu.peak_flop_per_s(dtype),
        max_flop_per_s=gpu.num_sms * gpu.flop_per_clk_per_sm(dtype) * gpu.max_clock_hz,
        ridge_flop_per_byte=gpu.ridge_flop_per_byte(dtype),
    )
