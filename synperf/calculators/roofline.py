"""Which side of the ridge operators are on, and the least time that their FLOP and bytes take.

Source: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009; with the levels of caches: Ilic, Pratas, Sousa,
"Cache-aware Roofline Model", IEEE CAL 13(1), 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

from ..errors import FieldError
from ..hardware import GPU, DType
from ..kernels.base import Call
from .operators.asked import Work, work
from .roofs.advice import advised
from .roofs.point import Point, achieved, point
from .roofs.reasons import reasons

_MOST = 1e30  # FLOP or bytes: more than any machine does in a lifetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Roofline:
    """Operators on one GPU."""

    gpu: GPU
    points: tuple[Point, ...]
    why: tuple[str, ...]
    advice: tuple[str, ...]


def given(flop: float, moved_bytes: float, dtype: DType) -> Work:
    """The work of so many FLOP in a format and bytes of DRAM.

    Raises:
        FieldError: a number is not what it should be.
    """
    for name, value, least in (("flop", flop, 0.0), ("bytes", moved_bytes, 1.0)):
        if not (isfinite(value) and least <= value <= _MOST):
            raise FieldError(f"{name} must be {least:g} to {_MOST:g}, got {value:g}")
    return Work(name="given", flop=flop, bytes=moved_bytes, math=dtype, least_flop=flop)


def roofline(gpu: GPU, works: Sequence[Work | Call], achieved_flop_per_s: Sequence[float] = ()) -> Roofline:
    """Where calls, or works that are `given`, stand under the roofs of a GPU.

    Rates that were measured go with them, one for each, or none.

    Raises:
        FieldError: there is no work; a call holds columns; rates are not as many, or not above 0.
        UnsupportedError: the GPU does not multiply a format.
    """
    if not works:
        raise FieldError("op: none given; right would be gemm,m=4096,n=4096,k=4096, or flop and bytes")
    known = [one if isinstance(one, Work) else work(one, gpu) for one in works]
    points = [point(one, gpu) for one in known]
    if achieved_flop_per_s:
        rates = _rates(achieved_flop_per_s, points)
        points = [replace(at, achieved=achieved(at, rate, gpu)) for at, rate in zip(points, rates, strict=True)]
    return Roofline(gpu=gpu, points=tuple(points), why=reasons(points, gpu), advice=advised(known, points, gpu))


def _rates(given_rates: Sequence[float], points: Sequence[Point]) -> Sequence[float]:
    if len(given_rates) != len(points):
        raise FieldError(f"achieved has {len(given_rates)} values for {len(points)} operators; right would be one each")
    for rate in given_rates:
        if not (isfinite(rate) and 0 < rate <= _MOST):
            raise FieldError(f"achieved must be above 0, such as 75TFLOP/s, got {rate:g}")
    return given_rates
