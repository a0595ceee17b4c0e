"""Which shapes to measure: eight that only the tensor cores limit, and eight that only DRAM does."""

from __future__ import annotations

from ..errors import UnsupportedError
from ..hardware import GPU, DType
from ..kernels import family
from ..kernels.gemm_call import Gemm
from .hardware_fits import FAR_FROM_RIDGE, LARGE_EXTENT, TIMES_L2

EACH = 8
_SIZES = (4096, 5120, 6144, 7168, 8192, 10240, 12288, 14336, 16384, 20480, 24576, 32768)
_FEW_ROWS = (1, 2, 4, 8, 16, 24, 32, 48)  # of A, as in decoding; those that leave DRAM the limit, over and over
_APART = 3  # of so many large shapes one is taken, so that they are not all of a kind
HEADER = "family,m,n,k,dtype,time_us"


def choose_rows(gpu: GPU, dtype: DType = DType.BF16) -> list[tuple[int, int, int]]:
    """Sixteen shapes (m, n, k): eight compute-bound, then eight memory-bound, the smallest that tell the rates.

    Raises:
        UnsupportedError: the GPU does not multiply the format.
    """
    gpu.math_pipe(dtype)
    large = [(m, n, k) for n in _SIZES for k in _SIZES for m in (n,) if _is_compute_bound(gpu, dtype, m, n, k)]
    large.sort(key=lambda shape: (shape[0] * shape[1] * shape[2], shape))
    wide = sorted((n * k, n, k) for n in _SIZES for k in _SIZES if _is_cold(gpu, dtype, n, k))
    if len(large) < _APART * EACH or len(wide) < EACH:
        raise UnsupportedError(f"dtype: no shapes up to {_SIZES[-1]} tell the rates of {gpu.key} in {dtype}")
    few = [m for m in _FEW_ROWS if _intensity(gpu, dtype, m, *wide[0][1:]) <= 1 / FAR_FROM_RIDGE]
    return large[::_APART][:EACH] + [(few[i % len(few)], n, k) for i, (_, n, k) in enumerate(wide[:EACH])]


def plan_csv(gpu: GPU, dtype: DType = DType.BF16) -> str:
    """The shapes as a table of measurements whose times are yet empty."""
    shapes = choose_rows(gpu, dtype)
    return "\n".join([HEADER, *(f"gemm,{m},{n},{k},{dtype.value}," for m, n, k in shapes)])


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
