"""Plan the memory of tensors that do not all live at once: the peak, and where each lies.

For example: synperf memory-pool --tensor input=32MB:0:1 --tensor conv1=64MB:1:3 --tensor conv2=64MB:2:4
--tensor head=8MB:4:5
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.memory_pool import Tensor, chain
from .....calculators.memory_pool import memory_pool as calculate
from .....errors import FieldError
from .....report.calculators import memory_pool as report
from ....calculated import show_drawn
from ....named_values import split, whole_number
from ....number_lists import numbers
from ....output_options import AsJson, Svg
from ....quantities import quantity

_RIGHT = "conv1=64MB:1:3, its bytes and the first and last step in which it is needed"


def memory_pool(
    tensor: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=SIZE:FIRST:LAST", help="bytes, and the steps in which it lives; may be repeated"),
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(metavar="LIST", help="bytes of a chain instead: each made of the one before it")
    ] = None,
    alignment: Annotated[int, typer.Option(metavar="BYTES", help="of every tensor, e.g. 512")] = 1,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    show_drawn(calculate(_tensors(tensor, sizes), alignment=alignment), report, as_json, svg)


def _tensors(tensor: list[str] | None, sizes: str | None) -> tuple[Tensor, ...]:
    if (tensor is None) == (sizes is None):
        raise FieldError(f"tensor: give one of --tensor, such as {_RIGHT}, and --sizes")
    if sizes is not None:
        return chain(numbers("sizes", sizes))  # type: ignore[arg-type]
    return tuple(_tensor(name, parts) for name, parts in split("tensor", tensor or (), _RIGHT))


def _tensor(name: str, parts: list[str]) -> Tensor:
    if len(parts) != 3:
        raise FieldError(f"tensor: {name} has {len(parts)} parts; right would be {_RIGHT}")
    size = quantity("tensor", parts[0], "B")
    return Tensor(
        name=name,
        bytes=size,  # type: ignore[arg-type]
        first=whole_number("tensor", parts[1]),
        last=whole_number("tensor", parts[2]),
    )
