"""Tell how much of a step a pipeline of stages idles, and which layers each stage should have.

For example: synperf pipeline --stages 4 --microbatches 8 --schedule 1f1b
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.amounts import count
from .....calculators.pipeline import pipeline as calculate
from .....calculators.pipeline_partition import Layers
from .....calculators.pipeline_schedules import ONE_F_ONE_B, names
from .....calculators.pipeline_setup import Setup
from .....errors import FieldError
from .....report.calculators import pipeline as report
from ....arguments import GpuName, one_gpu
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import amount_list, amounts

_MOST_LAYERS = 65_536  # that are counted; a partition says itself how many it takes

_OF_LAYERS = (
    "embedding_cost", "head_cost", "layer_bytes", "embedding_bytes", "head_bytes", "activation_bytes", "adam",
    "memory_bytes", "gpu", "split",
)  # fmt: skip
GOES_WITH = {"layers layer_costs": _OF_LAYERS}
NOT_WITH = {"memory_bytes": ("gpu",)}


def pipeline(
    stages: Annotated[int, typer.Option(metavar="N", help="that share the layers")],
    microbatches: Annotated[int, typer.Option(metavar="N", help="of a step")],
    schedule: Annotated[str, typer.Option(metavar="NAME", help=", ".join(names()))] = ONE_F_ONE_B,
    chunks: Annotated[int, typer.Option(metavar="N", help="of each stage, where they are interleaved")] = 1,
    forward_s: Annotated[
        str | None, typer.Option(metavar="TIME", help="of a stage and micro-batch; of a layer where these are given")
    ] = None,
    backward_s: Annotated[str | None, typer.Option(metavar="TIME", help="else twice as long")] = None,
    transfer_s: Annotated[str, typer.Option(metavar="TIME", help="from a stage to the next")] = "0",
    layers: Annotated[int | None, typer.Option(metavar="N", help="equal ones, to be split")] = None,
    layer_costs: Annotated[str | None, typer.Option(metavar="X,...", help="time of each layer, in any unit")] = None,
    embedding_cost: Annotated[str, typer.Option(metavar="X", help="of the first stage beside layers")] = "0",
    head_cost: Annotated[str, typer.Option(metavar="X", help="of the last stage beside layers")] = "0",
    layer_bytes: Annotated[str, typer.Option(metavar="SIZE", help="weights of a layer")] = "0",
    embedding_bytes: Annotated[str, typer.Option(metavar="SIZE", help="weights of the embedding")] = "0",
    head_bytes: Annotated[str, typer.Option(metavar="SIZE", help="weights of the head")] = "0",
    activation_bytes: Annotated[str, typer.Option(metavar="SIZE", help="of a layer and micro-batch")] = "0",
    adam: Annotated[bool, typer.Option("--adam", help="gradients and Adam's states beside 16-bit weights")] = False,
    memory_bytes: Annotated[str | None, typer.Option(metavar="SIZE", help="of a GPU")] = None,
    gpu: GpuName = None,
    split: Annotated[str | None, typer.Option(metavar="N,...", help="layers of each stage, to be judged")] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    sizes = amounts(
        embedding_cost=embedding_cost,
        head_cost=head_cost,
        layer_bytes=layer_bytes,
        embedding_bytes=embedding_bytes,
        head_bytes=head_bytes,
        activation_bytes=activation_bytes,
        memory_bytes=memory_bytes,
    )
    if gpu is not None and memory_bytes is None:
        sizes["memory_bytes"] = one_gpu("gpu", gpu).dram_bytes
    costs = _costs(layers, layer_costs)
    setup = Setup(
        stages=stages,
        microbatches=microbatches,
        schedule=schedule,
        chunks=chunks,
        **amounts(forward_s=forward_s, backward_s=backward_s, transfer_s=transfer_s),
        layers=None if costs is None else Layers(costs=costs, **sizes, is_trained=adam),
        split=amount_list("split", split),
    )
    show_drawn(calculate(setup), report, as_json, svg)


def _costs(layers: int | None, layer_costs: str | None) -> tuple[float, ...] | None:
    """The time of each layer; None where none are given.

    Raises:
        FieldError: they are given twice, or are no numbers.
    """
    if layers is not None and layer_costs is not None:
        raise FieldError("layer_costs is given beside layers; right would be one of them")
    if layers is not None:
        return (1.0,) * count("layers", layers, _MOST_LAYERS)
    return amount_list("layer_costs", layer_costs)
