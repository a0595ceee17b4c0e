"""What calculators of accesses are asked for: how wide one is, and numbers that they read alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ...errors import FieldError, UnsupportedError
from ...hardware.capability import ComputeCapability, capability, major_minor
from ...hardware.makers import NVIDIA
from ...kernels.fields import MAX_EXTENT
from ...numeric import Number, is_array
from ..amounts import extent

WIDTHS = (1, 2, 4, 8, 16)  # bytes of one access. Source: CUDA C++ Programming Guide, "Device Memory Accesses"
_WIDEST, _SINCE = 32, 10  # Source: PTX ISA 8.8, ld: .v8.b32 of global memory needs sm_100 or higher


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One lane's part of an instruction: `vector` elements that lie side by side."""

    element_bytes: int
    vector: int
    bytes: int

    @classmethod
    def of(cls, element_bytes: Any, vector: Any, able: ComputeCapability) -> Access:
        """The access of so many elements.

        Raises:
            FieldError: no instruction is that wide.
        """
        widths = WIDTHS if major_minor(able.key)[0] < _SINCE else (*WIDTHS, _WIDEST)
        size = one_of("element_bytes", element_bytes, widths)
        count = extent("vector", vector)
        if size * count not in widths:
            most = " or ".join(str(width // size) for width in widths if width >= size)
            raise FieldError(f"vector must be {most} for elements of {size} bytes, got {count}")
        return cls(element_bytes=size, vector=count, bytes=size * count)


def nvidia(key: str) -> ComputeCapability:
    """The limits of one SM of NVIDIA.

    Raises:
        UnknownNameError: no such compute capability.
        UnsupportedError: it is that of another maker, whose memory has other rules.
    """
    found = capability(key)
    if found.maker != NVIDIA:
        raise UnsupportedError(
            f"cc: sectors and banks are those of NVIDIA's GPUs, and {key} is none; right would be 9.0"
        )
    return found


def one_of(name: str, value: Any, known: Sequence[int]) -> int:
    """A number of a few.

    Raises:
        FieldError: it is another.
    """
    listed = f"{', '.join(map(str, known[:-1]))} or {known[-1]}"
    if isinstance(value, bool) or not isinstance(value, Real) or value not in known:
        raise FieldError(f"{name} must be {listed}, got {str(value)[:60]}")
    return next(one for one in known if one == value)


def signed(name: str, value: Any) -> int:
    """A whole number of either sign, or 0.

    Raises:
        FieldError: it is none, or beyond 2^31 - 1.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or abs(int(value)) > MAX_EXTENT:
        raise FieldError(f"{name} must be a whole number from -{MAX_EXTENT} to {MAX_EXTENT}, got {str(value)[:60]}")
    return int(value)


def signed_column(name: str, value: Any) -> Number:
    """As `signed`, or an array of such.

    Raises:
        FieldError: a value is none.
    """
    if not is_array(value):
        return signed(name, value)
    if value.dtype.kind not in "iu" or value.ndim != 1 or np.any(np.abs(value) > MAX_EXTENT):
        raise FieldError(f"{name} must be whole numbers from -{MAX_EXTENT} to {MAX_EXTENT}, in one row")
    return value
