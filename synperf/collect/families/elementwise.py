"""Element-wise kernels: a scaled copy of one input, or the sum of two."""

from __future__ import annotations

from ..timed import Timed, made_by

TIMED = (
    Timed(
        name="elementwise",
        grid={
            "elements": tuple(2**i for i in range(10, 31)),
            "inputs": (1, 2),
            "outputs": (1,),
            "flop_per_element": (1,),
        },
        formats=("fp32", "fp16", "bf16"),
        make=made_by("elementwise", "elementwise"),
        fixed=("inputs", "outputs", "flop_per_element"),
    ),
)
