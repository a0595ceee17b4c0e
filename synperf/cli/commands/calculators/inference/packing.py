"""Pack sequences one after another into rows of a fixed length, and tell how full these are.

For example: synperf packing --lengths 10,20,30,40,50,60,70,80,90,100 --capacity 100
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.packing import packing as calculate
from .....report.calculators import packing as report
from ....calculated import show_drawn
from ....number_lists import numbers
from ....output_options import AsJson, Svg


def packing(
    lengths: Annotated[str, typer.Option(metavar="LIST", help="tokens of each sequence: 10,20,30, or a file of them")],
    capacity: Annotated[int, typer.Option(metavar="TOKENS", help="tokens of a row")],
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    found = calculate(numbers("lengths", lengths), capacity=capacity)  # type: ignore[arg-type]
    show_drawn(found, report, as_json, svg)
