"""The public functions. Everything the command line does is one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import hardware
from .errors import FieldError, UnknownNameError
from .estimators import Estimate, analytical
from .explanation import Explanation, explanation
from .hardware import GPU
from .kernels import KernelFamily, families, family
from .kernels.base import call_from, num_calls, take

CHUNK = 16_384  # calls per pass of array arithmetic: the columns of one pass stay in the caches
_ESTIMATORS: dict[str, Callable[[KernelFamily, Any, GPU], Estimate]] = {analytical.ORIGIN: analytical.estimate}


def parse_call(family_name: str, fields: Mapping[str, Any]) -> Any:
    """The call that text, numbers or arrays by field name describe.

    Raises:
        UnknownNameError: no such family.
        FieldError: a field is unknown, missing or out of range.
    """
    return call_from(family(family_name), fields)


def predict(call: Any, gpu: GPU | str, *, origin: str | None = None) -> Estimate:
    """How long a call takes, or each call of columns.

    `origin` forces one estimator; without it the best that knows the family answers, and the estimate names it.

    Raises:
        UnknownNameError: no such GPU.
        FieldError: `origin` names no estimator; the call names an engine or kernel that does not exist.
        UnsupportedError: the GPU lacks the format, the engine a kernel for it, or the tile does not fit.
    """
    device = hardware.gpu(gpu) if isinstance(gpu, str) else gpu
    kind = family_of(call)
    estimator = _estimator(origin)
    size = num_calls(call)
    if size is None or size <= CHUNK:
        return estimator(kind, call, device)
    starts = range(0, size, CHUNK)
    return Estimate.join([estimator(kind, take(call, slice(start, start + CHUNK)), device) for start in starts])


def explain(call: Any, gpu: GPU | str) -> Explanation:
    """Why one call takes its time: tiles, grid, waves, the busiest SM, every pipe's demand, occupancy.

    Raises: as `predict`; and FieldError where the call holds columns of many.
    """
    device = hardware.gpu(gpu) if isinstance(gpu, str) else gpu
    if num_calls(call) is not None:
        raise FieldError("call: one call is explained at a time, got columns")
    return explanation(family_of(call), call, device)


def family_of(call: Any) -> KernelFamily:
    """The family that a call belongs to.

    Raises:
        FieldError: it is not a call of any family.
    """
    for kind in families().values():
        if type(call) is kind.call_type:
            return kind
    known = ", ".join(kind.call_type.__name__ for kind in families().values())
    raise FieldError(f"call must be one of {known}, got {type(call).__name__}")


def _estimator(origin: str | None) -> Callable[[KernelFamily, Any, GPU], Estimate]:
    if origin is None:
        return analytical.estimate
    if origin not in _ESTIMATORS:
        raise FieldError(f"origin: {UnknownNameError.among('estimator', origin, _ESTIMATORS)}")
    return _ESTIMATORS[origin]
