"""Tell whether what prepares the inputs keeps a GPU busy, and how many workers would.

For example: synperf preprocess --rate 1000 --stage decode=8ms:4 --stage resize=1ms:4
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.preprocess import Stage
from .....calculators.preprocess import preprocess as calculate
from .....errors import FieldError
from .....report.calculators import preprocess as report
from ....calculated import show_drawn
from ....named_values import split, whole_number
from ....option_names import as_options
from ....output_options import AsJson, Svg
from ....quantities import quantity

_RIGHT = "decode=8ms:4, the time of an item and how many workers"


def preprocess(
    rate: Annotated[float, typer.Option(metavar="X", help="items that the GPU could take a second")],
    stage: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=TIME[:WORKERS]", help="a stage, the time of one item, and how many work on it"),
    ] = None,
    cache_hits: Annotated[float, typer.Option(metavar="SHARE", help="of items whose results are kept")] = 0.0,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    stages = [_stage(name, parts) for name, parts in split("stage", stage or (), _RIGHT)]
    with as_options(rate_per_s="rate", latency_s="stage: the time", workers="stage: workers", stages="stage"):
        found = calculate(stages, rate_per_s=rate, cache_hits=cache_hits)
    show_drawn(found, report, as_json, svg)


def _stage(name: str, parts: list[str]) -> Stage:
    if len(parts) > 2:
        raise FieldError(f"stage: {name} has {len(parts)} parts; right would be {_RIGHT}")
    workers = whole_number("stage", parts[1]) if len(parts) == 2 else 1
    return Stage(name=name, latency_s=quantity("stage", parts[0], "s"), workers=workers)
