"""What an operator by formula has: a class of calls, its FLOP and its compulsory bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any

from ...hardware import DType
from ...kernels.base import Call
from ...numeric import Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """One kind of operator: `math` is the format at whose rate its FLOP are computed."""

    name: str
    call_type: type[Any]
    flop: Callable[[Any], Number]
    compulsory_bytes: Callable[[Any], Number]
    math: Callable[[Any], DType]

    def required(self) -> tuple[str, ...]:
        """Names of the fields that have no default."""
        return tuple(f.name for f in fields(self.call_type) if f.default is MISSING)

    def field_names(self) -> tuple[str, ...]:
        """Names of all fields, in their order."""
        return tuple(f.name for f in fields(self.call_type))

    def make(self, values: Mapping[str, Any]) -> Call:
        """The call of these fields."""
        call: Call = self.call_type(**values)
        return call


def own_format(call: Any) -> DType:
    """Products multiply in their own format."""
    dtype: DType = call.dtype
    return dtype


def single(call: Any) -> DType:  # noqa: ARG001
    """What is no product is computed in single precision, on the FMA pipe."""
    return DType.FP32
