"""The GPU, the compute capability or the limits of an SM that a calculator is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from ..calculators.sm import Limits, described
from ..errors import FieldError, named
from ..hardware import GPU
from ..hardware.capability import ComputeCapability, capability
from .arguments import device

Capability = Annotated[str | None, typer.Option("--cc", metavar="X.Y", help="a compute capability, without a GPU: 8.0")]


def sm_of(
    gpu: str | None, cc: str | None, changes: Sequence[str] | None, limits: Limits | None = None
) -> GPU | ComputeCapability:
    """The GPU as it is; else an SM, with the limits that the user gave, where a command takes them.

    Raises:
        FieldError: both a GPU and a compute capability, or neither and not all limits.
        UnknownNameError: no such GPU or compute capability.
    """
    if gpu is not None and cc is not None:
        raise FieldError(f"cc: {cc[:20]} beside --gpu {gpu[:40]}; right would be one of them")
    if changes and gpu is None:
        raise FieldError("set: nothing to change without a GPU; right would be --gpu NAME")
    if gpu is None and cc is None and limits is None:
        raise FieldError("gpu: none given; right would be --gpu NAME or --cc 9.0")
    whole = None if gpu is None else device(gpu, changes)
    if whole is not None and (limits is None or not limits.given()):
        return whole
    with named("cc"):
        base = whole.sm if whole is not None else None if cc is None else capability(cc.strip())
    return described(base, limits or Limits())


def sm_or_none(gpu: str | None, cc: str | None) -> ComputeCapability | None:
    """The SM of a GPU or of a compute capability; None where neither is given.

    Raises:
        FieldError: both are.
        UnknownNameError: no such GPU or compute capability.
    """
    if gpu is None and cc is None:
        return None
    found = sm_of(gpu, cc, None)
    return found.sm if isinstance(found, GPU) else found
