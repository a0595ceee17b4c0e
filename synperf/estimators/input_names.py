"""The names of a family's inputs of a network, in their order: those of one call on one GPU are those of all."""

from __future__ import annotations

from functools import cache

from .. import hardware
from ..features import features
from ..hardware import GPU, DType
from ..kernels import family as family_named
from .inputs import Sustained, inputs

_ANY = Sustained(clock_share=1.0, dram_share=1.0, launch_s=1e-6, assumptions=())  # names do not depend on rates


@cache
def input_names(family: str) -> tuple[str, ...]:
    """Names of the inputs, of the family's example on the first GPU that multiplies its format.

    Raises:
        UnknownNameError: no such family.
    """
    kind = family_named(family)
    gpu = _first_with(kind.example.dtype)
    return tuple(inputs(kind, kind.example, gpu, features(kind, kind.example, gpu), _ANY)[1])


def _first_with(dtype: DType) -> GPU:
    return next(gpu for gpu in map(hardware.gpu, hardware.keys()) if dtype in gpu.dtypes())
