"""Tell what it costs in communication that GPUs share every layer, and what it saves.

For example: synperf tensor-parallel Llama-3.1-70B --tp 4 --tokens 35152 --gpu h100_sxm
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .....calculators.tensor_parallel import Layers, Machine, layers_of
from .....calculators.tensor_parallel import tensor_parallel as calculate
from .....errors import FieldError, named
from .....hardware import DType
from .....kernels.fields import dtype_of
from .....models import model as of_name
from .....report.calculators import tensor_parallel as report
from ....arguments import GpuName, one_gpu
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import amounts


def tensor_parallel(
    tp: Annotated[int, typer.Option(metavar="N", help="GPUs that share every layer")],
    tokens: Annotated[int, typer.Option(metavar="N", help="of a forward pass: batch times sequence")],
    model: Annotated[
        str | None, typer.Argument(metavar="[MODEL]", help="a name of the catalog, or a config.json")
    ] = None,
    hidden: Annotated[int | None, typer.Option(metavar="N", help="values of a token, without MODEL")] = None,
    layers: Annotated[int | None, typer.Option(metavar="N", help="without MODEL")] = None,
    parameters: Annotated[str | None, typer.Option(metavar="N", help="of all layers, without MODEL")] = None,
    dtype: Annotated[str, typer.Option(metavar="NAME", help="of weights and of what is sent")] = DType.BF16.value,
    gpu: GpuName = None,
    link: Annotated[str | None, typer.Option(metavar="NAME", help="else that of the GPU")] = None,
    network: Annotated[str | None, typer.Option(metavar="NAME", help="between nodes, e.g. infiniband_ndr")] = None,
    flop_per_s: Annotated[str | None, typer.Option(metavar="RATE", help="of a GPU, else its peak")] = None,
    latency_s: Annotated[str | None, typer.Option(metavar="TIME", help="of a step of a ring, e.g. 5us")] = None,
    bandwidth: Annotated[
        str | None, typer.Option(metavar="RATE", help="of a rank in one direction, e.g. 100GB/s")
    ] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    machine = Machine(
        gpu=None if gpu is None else one_gpu("gpu", gpu),
        link=link,
        network=network,
        **amounts(flop_per_s=flop_per_s, latency_s=latency_s, bandwidth=bandwidth),
    )
    shared = _layers(model, tp, {"hidden": hidden, "layers": layers, **amounts(parameters=parameters)})
    found = calculate(shared, tp=tp, tokens=tokens, machine=machine, dtype=dtype_of("dtype", dtype))
    show_drawn(found, report, as_json, svg)


def _layers(model: str | None, tp: int, given: dict[str, Any]) -> Layers:
    """The layers of a model, or those that options describe.

    Raises:
        FieldError: neither, both, or a part of them.
    """
    known = [name for name, value in given.items() if value is not None]
    if model is None:
        missing = next((name for name in given if name not in known), None)
        if missing is not None:
            raise FieldError(f"{missing}: none given; right would be a MODEL, or hidden, layers and parameters")
        return Layers(**given)
    if known:
        raise FieldError(f"{known[0]} is given beside MODEL; right would be one of them")
    with named("model"):
        described = of_name(model)
    return layers_of(described, tp)
