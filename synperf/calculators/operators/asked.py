"""Operators as text, `gemm,m=4096,n=4096,k=4096,dtype=bf16`, and the work that one is: FLOP, bytes, launches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import FieldError, PerfError, UnknownNameError, named
from ...estimators import analytical
from ...features import features
from ...hardware import GPU, DType
from ...hardware.launch import launch_floor
from ...hardware.rates import rates
from ...kernels import KernelFamily, families
from ...kernels import of_type as family_of_type
from ...kernels.base import Call, call_from, num_calls
from . import Operator, of_type, operators

_FIELD = re.compile(r",(?=\s*[a-z_]+\s*=)", re.IGNORECASE)  # lists have commas too


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Useful FLOP in format `math`, and the bytes that DRAM must move at least.

    `l2_bytes` and `shared_bytes` are what the kernel's tiles move there, `launch_s` its launch floor, where a kernel is
    known. `least_flop` are those of the best algorithm.
    """

    name: str
    flop: float
    bytes: float
    math: DType
    least_flop: float
    l2_bytes: float | None = None
    shared_bytes: float | None = None
    launch_s: float | None = None
    call: Call | None = None


def parse(text: str, others: Sequence[str] = ()) -> tuple[str, Call]:
    """The name and the call of an operator; `others` are further KEY=VALUE.

    Raises:
        UnknownNameError: no operator or field has that name.
        FieldError: it is not NAME,KEY=VALUE; a field is missing, given twice, or not what it should be.
    """
    name, *fields = (part.strip() for part in _FIELD.split(text))
    values: dict[str, str] = {}
    for given in (*fields, *others):
        key, equals, value = (part.strip() for part in given.partition("="))
        if not (equals and key and value):
            raise FieldError(f"op: {given[:60]!r} is not KEY=VALUE, such as m=4096")
        if key in values:
            raise FieldError(f"op: {key} is given twice, as {values[key]} and as {value}")
        values[key] = value
    known: Mapping[str, Any] = families() | operators()
    if name not in known:
        raise FieldError(f"op: {UnknownNameError.among('operator', name[:60], known)}")
    with named("op"):
        return name, call_from(known[name], values)


def work(call: Call, gpu: GPU, name: str | None = None) -> Work:
    """What one call must do.

    Raises:
        FieldError: it holds columns, or is no operator.
    """
    kind: KernelFamily | Operator | None = family_of_type(type(call)) or of_type(type(call))
    if kind is None or num_calls(call) is not None:
        raise FieldError(f"op: one call of an operator is needed, got {type(call).__name__}")
    flop = float(kind.flop(call))
    found = Work(
        name=kind.name if name is None else name,
        flop=flop,
        bytes=float(kind.compulsory_bytes(call)),
        math=kind.math(call),
        least_flop=float(kind.bound_flop(call)) if isinstance(kind, KernelFamily) else flop,
        call=call,
    )
    return _of_kernel(found, kind, call, gpu) if isinstance(kind, KernelFamily) else found


def _of_kernel(found: Work, kind: KernelFamily, call: Any, gpu: GPU) -> Work:
    """With what the tiles of its kernel move, if the GPU has one."""
    try:
        pipes = features(kind, call, gpu).pipes
        kernel = str(analytical.estimate(kind, call, gpu).kernel)
    except PerfError:
        return found
    shared = rates(gpu, kind.math(call)).shared_bytes_per_s * gpu.num_sms
    return Work(
        name=found.name, flop=found.flop, bytes=found.bytes, math=found.math, least_flop=found.least_flop, call=call,
        l2_bytes=float(round(pipes["l2"].gpu_s * gpu.l2_bytes_per_s)),
        shared_bytes=float(round(pipes["shared"].gpu_s * shared)),
        launch_s=launch_floor(gpu, kind.name, kernel, call.dtype, kind.launches_like)[0],
    )  # fmt: skip
