"""Which GEMMs to measure: those that tell a GPU's rates or, of a format without weights, its launch floor.

The rates: eight shapes that only the math limits, and eight that only DRAM does. A launch floor: sixteen launches with
next to no work, as `fit_hardware` judges it.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from ..errors import UnsupportedError
from ..estimators.analytical import slowest
from ..estimators.weights import shipped
from ..features import features
from ..hardware import GPU, DType
from ..kernels import family
from ..kernels.gemm_call import Gemm
from .calibration_rows import is_learned
from .hardware_fits import FAR_FROM_RIDGE, LARGE_EXTENT, LITTLE_WORK_S, TIMES_L2

EACH = 8
FORMATS = (DType.BF16, DType.FP16)  # the most used first: the plan is in the first that the GPU has
_SIZES = (4096, 5120, 6144, 7168, 8192, 10240, 12288, 14336, 16384, 20480, 24576, 32768)
_FEW_ROWS = (1, 2, 4, 8, 16, 24, 32, 48)  # of A, as in decoding; those that leave DRAM the limit, over and over
_SMALL_SIZES = (32, 64, 96, 128, 192, 256)
_APART = 3  # of so many large shapes one is taken, so that they are not all of a kind
HEADER = "family,m,n,k,dtype,time_us"


def plan_format(gpu: GPU, asked: DType | None = None) -> DType:
    """The format of the plan: what is asked for, else the most used one that the GPU has, of 16 bits where it can.

    Raises:
        UnsupportedError: the GPU does not multiply what is asked for; the message says what to ask for instead.
    """
    has = gpu.dtypes()
    usual = next((dtype for dtype in FORMATS if dtype in has), has[0])
    try:
        gpu.math_pipe(asked or usual)
    except UnsupportedError as wrong:
        raise UnsupportedError(f"{wrong}; right would be --dtype {usual}") from None
    return asked or usual


def choose_rows(gpu: GPU, dtype: DType = DType.BF16) -> list[tuple[int, int, int]]:
    """Sixteen shapes (m, n, k) that tell what calibration can correct in this format.

    Raises:
        UnsupportedError: the GPU does not multiply the format, or no such shapes tell it.
    """
    gpu.math_pipe(dtype)
    weights, kind = shipped("gemm"), family("gemm")
    learned = weights is not None and is_learned(kind, Gemm(m=1, n=1, k=1, dtype=dtype), gpu, weights)
    return _of_rates(gpu, dtype) if learned else _of_launches(gpu, dtype)


def plan_csv(gpu: GPU, dtype: DType = DType.BF16) -> str:
    """The shapes as a table of measurements whose times are yet empty."""
    shapes = choose_rows(gpu, dtype)
    return "\n".join([HEADER, *(f"gemm,{m},{n},{k},{dtype.value}," for m, n, k in shapes)])


def _of_rates(gpu: GPU, dtype: DType) -> list[tuple[int, int, int]]:
    """Eight compute-bound shapes, then eight memory-bound ones, the smallest that tell the rates."""
    large = [(m, n, k) for n in _SIZES for k in _SIZES for m in (n,) if _is_compute_bound(gpu, dtype, m, n, k)]
    large.sort(key=lambda shape: (shape[0] * shape[1] * shape[2], shape))
    wide = sorted((n * k, n, k) for n in _SIZES for k in _SIZES if _is_cold(gpu, dtype, n, k))
    if len(large) < _APART * EACH or len(wide) < EACH:
        raise UnsupportedError(f"dtype: no shapes up to {_SIZES[-1]} tell the rates of {gpu.key} in {dtype}")
    few = [m for m in _FEW_ROWS if _intensity(gpu, dtype, m, *wide[0][1:]) <= 1 / FAR_FROM_RIDGE]
    return large[::_APART][:EACH] + [(few[i % len(few)], n, k) for i, (_, n, k) in enumerate(wide[:EACH])]


def _of_launches(gpu: GPU, dtype: DType) -> list[tuple[int, int, int]]:
    """Shapes with next to no work, from the least on and evenly apart among all that have so little."""
    m, n, k = np.array(list(product(_FEW_ROWS, _SMALL_SIZES, _SMALL_SIZES))).T
    work_s = slowest(features(family("gemm"), Gemm(m=m, n=n, k=k, dtype=dtype), gpu), 0.0)[1]
    little = np.flatnonzero(work_s < LITTLE_WORK_S)
    if len(little) < 2 * EACH:
        raise UnsupportedError(
            f"dtype: {dtype} has no weights, and too few launches on {gpu.key} have so little work in it that they "
            f"tell a launch floor; right would be --dtype {plan_format(gpu)}"
        )
    apart = little[np.linspace(0, len(little) - 1, 2 * EACH).round().astype(int)]
    return list(zip(*(column[apart].tolist() for column in (m, n, k)), strict=True))


def _intensity(gpu: GPU, dtype: DType, m: int, n: int, k: int) -> float:
    """FLOP per compulsory byte, in ridges."""
    call, kind = Gemm(m=m, n=n, k=k, dtype=dtype), family("gemm")
    return float(kind.flop(call) / kind.compulsory_bytes(call) / gpu.ridge_flop_per_byte(dtype))


def _is_compute_bound(gpu: GPU, dtype: DType, m: int, n: int, k: int) -> bool:
    return min(m, n, k) >= LARGE_EXTENT and _intensity(gpu, dtype, m, n, k) >= FAR_FROM_RIDGE


def _is_cold(gpu: GPU, dtype: DType, n: int, k: int) -> bool:
    """Whether weights n x k fill L2 several times, and one row of A leaves DRAM the limit."""
    few = _intensity(gpu, dtype, 1, n, k) <= 1 / FAR_FROM_RIDGE
    return few and family("gemm").compulsory_bytes(Gemm(m=1, n=n, k=k, dtype=dtype)) >= TIMES_L2 * gpu.l2_bytes
