"""Tell what training a model takes of the memory of each GPU.

For example: synperf training-memory --parameters 7.5e9 --dp 64 --zero 1 --gpu a100_sxm
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.activations import RECOMPUTES, Shape
from .....calculators.training_memory import Setup
from .....calculators.training_memory import training_memory as calculate
from .....calculators.training_states import MIXED, NONE, OFFLOADS, PRECISIONS
from .....errors import FieldError
from .....report.calculators import training_memory as report
from ....arguments import GpuName, one_gpu
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import amounts

GOES_WITH = {"layers": ("sequence_parallel", "recompute", "flash")}


def training_memory(
    parameters: Annotated[str, typer.Option(metavar="N", help="of the model, e.g. 7e9")],
    dp: Annotated[int, typer.Option(metavar="N", help="GPUs that have the same parameters, or share them by ZeRO")] = 1,
    zero: Annotated[int, typer.Option(metavar="STAGE", help="of ZeRO, 0 to 3; FSDP is 3")] = 0,
    tp: Annotated[int, typer.Option(metavar="N", help="GPUs that share every layer")] = 1,
    pp: Annotated[int, typer.Option(metavar="N", help="stages that share the layers, under 1F1B")] = 1,
    precision: Annotated[str, typer.Option(metavar="NAME", help=", ".join(PRECISIONS))] = MIXED,
    offload: Annotated[str, typer.Option(metavar="NAME", help=f"to hosts: {', '.join(OFFLOADS)}")] = NONE,
    largest_layer: Annotated[
        str | None, typer.Option(metavar="N", help="parameters that ZeRO-3 gathers at once")
    ] = None,
    layers: Annotated[int | None, typer.Option(metavar="N", help="with the next four: activations")] = None,
    hidden: Annotated[int | None, typer.Option(metavar="N", help="values of a token")] = None,
    heads: Annotated[int | None, typer.Option(metavar="N", help="of attention")] = None,
    seq: Annotated[int | None, typer.Option(metavar="TOKENS", help="of a sequence")] = None,
    batch: Annotated[int | None, typer.Option(metavar="N", help="sequences of a micro-batch")] = None,
    sequence_parallel: Annotated[
        bool, typer.Option("--sequence-parallel", help="norms and dropout shared too")
    ] = False,
    recompute: Annotated[str, typer.Option(metavar="NAME", help=", ".join(RECOMPUTES))] = NONE,
    flash: Annotated[bool, typer.Option("--flash", help="attention keeps no scores")] = False,
    gpu: GpuName = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    sizes = amounts(parameters=parameters, largest_layer=largest_layer)
    setup = Setup(
        **sizes,
        dp=dp,
        zero=zero,
        tp=tp,
        pp=pp,
        precision=precision,
        offload=offload,
        layers=layers,
        shape=_shape(seq=seq, batch=batch, hidden=hidden, heads=heads),
        sequence_parallel=sequence_parallel,
        recompute=recompute,
        flash=flash,
    )
    show_drawn(calculate(setup, None if gpu is None else one_gpu("gpu", gpu)), report, as_json, svg)


def _shape(**given: int | None) -> Shape | None:
    """The shape of a layer, if any of it is given.

    Raises:
        FieldError: a part is missing.
    """
    known = {name: value for name, value in given.items() if value is not None}
    for name in given:
        if known and name not in known:
            raise FieldError(f"{name}: none given; activations need seq, batch, hidden, heads and layers")
    return Shape(**known) if known else None
