"""The names of a network's inputs, in their order: those of one call of a variant on one GPU are those of all."""

from __future__ import annotations

from functools import cache

from .. import hardware
from ..features import features
from ..hardware import GPU, DType
from ..kernels import KernelFamily
from ..kernels import family as family_named
from .inputs import Sustained, inputs

_ANY = Sustained(clock_share=1.0, dram_share=1.0, launch_s=1e-6, assumptions=())  # names do not depend on rates


def input_names(family: str, variant: str) -> tuple[str, ...]:
    """Names of the inputs of calls of a variant, of an example on the first GPU that multiplies its format.

    Raises:
        UnknownNameError: no such family.
    """
    return _names(family_named(family), variant)


@cache
def _names(kind: KernelFamily, variant: str) -> tuple[str, ...]:
    example = next((call for call in kind.others if kind.variant(call) == variant), kind.example)
    gpu = _first_with(example.dtype)
    return tuple(inputs(kind, example, gpu, features(kind, example, gpu), _ANY)[1])


def _first_with(dtype: DType) -> GPU:
    return next(gpu for gpu in map(hardware.gpu, hardware.keys()) if dtype in gpu.dtypes())
