"""Element-wise operations: arrays of one length in, arrays of that length out, and a few operations per element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..hardware import DType
from .memory_call import MemoryCall
from .memory_family import memory_family
from .memory_inputs import OF_GPUS, SIZES
from .memory_work import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Elementwise(MemoryCall):
    """`inputs` arrays of `elements` in, `outputs` out, with `flop_per_element`: numbers, or arrays of one length for
    many calls at once.
    """

    elements: Any
    inputs: Any = 1
    outputs: Any = 1
    dtype: DType = DType.BF16
    flop_per_element: Any = 1
    engine: str | None = None
    kernel: str | None = None

    FAMILY = "elementwise"
    NUMBERS = ("inputs", "outputs", "flop_per_element")
    LONG = ("elements",)


def work(p: Elementwise) -> Work:
    """One array of elements without rows."""
    return Work(
        rows=1.0,
        dim=1.0 * p.elements,
        is_flat=True,
        value_in=p.dtype.bytes,
        streams_in=p.inputs,
        value_out=p.dtype.bytes,
        streams_out=p.outputs,
        flop=1.0 * p.flop_per_element,
    )


FAMILY = memory_family(
    Elementwise(elements=2**24, inputs=2),
    "arrays of one length in and out, a few operations per element",
    work,
    shape=("elements",),
    sizes=SIZES,
    of_gpus=OF_GPUS,
)
