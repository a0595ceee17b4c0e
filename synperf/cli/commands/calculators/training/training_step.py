"""Tell what a training step computes, how well it uses its GPUs, and where its time goes.

For example: synperf training-step --parameters 7e9 --tokens 4e6 --gpus 64 --gpu h100_sxm --data-s 0.4 --forward-s 2
--backward-s 4.1 --communication-s 0.3 --optimizer-s 0.2 --checkpoint-s 60 --checkpoint-every 100
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .....calculators.activations import NONE, RECOMPUTES
from .....calculators.training_flop import Attention
from .....calculators.training_step import Setup
from .....calculators.training_step import training_step as calculate
from .....errors import FieldError
from .....hardware import DType
from .....kernels.fields import dtype_of
from .....report.calculators import training_step as report
from ....arguments import GpuName, one_gpu
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import amounts

_Time = Annotated[str | None, typer.Option(metavar="TIME", help="of a step")]

GOES_WITH = {
    "layers hidden seq": ("full_attention",),
    "gpu": ("dtype",),
    "reported": ("vocab",),
    "checkpoint_s": ("checkpoint_every",),
}
NOT_WITH = {
    "peak": ("gpu", "dtype"),
    "reported": ("parameters", "tokens", "seconds", "gpus", "recompute", "full_attention", "checkpoint_s"),
}


def training_step(
    parameters: Annotated[str | None, typer.Option(metavar="N", help="of the model, e.g. 7e9")] = None,
    tokens: Annotated[str | None, typer.Option(metavar="N", help="of all GPUs, in a step or in --seconds")] = None,
    gpus: Annotated[int, typer.Option(metavar="N", help="that train together")] = 1,
    gpu: GpuName = None,
    dtype: Annotated[str, typer.Option(metavar="NAME", help="whose peak counts")] = DType.BF16.value,
    peak: Annotated[
        str | None, typer.Option(metavar="RATE", help="of one GPU, e.g. 312e12, in the place of --gpu")
    ] = None,
    seconds: Annotated[str | None, typer.Option(metavar="TIME", help="that the tokens took")] = None,
    layers: Annotated[int | None, typer.Option(metavar="N", help="with hidden and seq: scores of attention")] = None,
    hidden: Annotated[int | None, typer.Option(metavar="N", help="values of a token")] = None,
    seq: Annotated[int | None, typer.Option(metavar="TOKENS", help="of a sequence")] = None,
    vocab: Annotated[int | None, typer.Option(metavar="N", help="for --reported: of the head")] = None,
    full_attention: Annotated[bool, typer.Option("--full-attention", help="there is no causal mask")] = False,
    recompute: Annotated[str, typer.Option(metavar="NAME", help=", ".join(RECOMPUTES))] = NONE,
    data_s: _Time = None,
    forward_s: _Time = None,
    backward_s: _Time = None,
    communication_s: Annotated[str | None, typer.Option(metavar="TIME", help="that is exposed")] = None,
    optimizer_s: _Time = None,
    checkpoint_s: Annotated[str | None, typer.Option(metavar="TIME", help="of one checkpoint")] = None,
    checkpoint_every: Annotated[int | None, typer.Option(metavar="N", help="steps between two checkpoints")] = None,
    reported: Annotated[
        str | None, typer.Option(metavar="RATE", help="of a GPU by Megatron's formula, to be checked")
    ] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    times = amounts(
        data_s=data_s,
        forward_s=forward_s,
        backward_s=backward_s,
        communication_s=communication_s,
        optimizer_s=optimizer_s,
        checkpoint_s=checkpoint_s,
    )
    known = amounts(parameters=parameters, tokens=tokens, peak=peak, seconds=seconds, reported=reported)
    if gpu is not None and peak is None:
        known["peak"] = one_gpu("gpu", gpu).peak_flop_per_s(dtype_of("dtype", dtype))
    setup = Setup(
        **known,
        gpus=gpus,
        attention=_attention(full_attention, layers=layers, hidden=hidden, seq=seq),
        vocab=vocab,
        recompute=recompute,
        times={name.removesuffix("_s"): value for name, value in times.items() if value is not None},
        checkpoint_every=checkpoint_every,
    )
    show_drawn(calculate(setup), report, as_json, svg)


def _attention(full: bool, **given: int | None) -> Attention | None:
    """What the scores of attention follow from, if any of it is given.

    Raises:
        FieldError: a part is missing.
    """
    known: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if not known:
        return None
    for name in given:
        if name not in known:
            raise FieldError(f"{name}: none given; scores of attention need layers, hidden and seq")
    return Attention(**known, is_causal=not full)
