"""Element-wise kernels: a scaled copy of one input, or the sum of two."""

from __future__ import annotations

import torch

from ..source import Source
from ..timed import Fields, Made

_FACTOR = 1.5


def elementwise(f: Fields, source: Source) -> Made:
    elements, dtype = f["elements"], f["dtype"]
    inputs = [source.random(elements, dtype=dtype) for _ in range(f["inputs"])]
    out = source.empty(elements, dtype=dtype)
    if len(inputs) == 1:
        return Made(run=lambda: torch.mul(inputs[0], _FACTOR, out=out), library="aten")
    return Made(run=lambda: torch.add(inputs[0], inputs[1], out=out), library="aten")
