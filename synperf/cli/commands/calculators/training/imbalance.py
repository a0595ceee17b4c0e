"""Tell what it costs that some ranks of a synchronous step are slower than others.

For example: synperf imbalance --times 100ms,100ms,100ms,120ms
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.imbalance import imbalance as calculate
from .....report.calculators import imbalance as report
from ....calculated import show_drawn
from ....output_options import AsJson, Svg
from ....quantities import amount_list


def imbalance(
    times: Annotated[str, typer.Option(metavar="TIME,...", help="what each rank takes before it waits for the others")],
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    show_drawn(calculate(times=amount_list("times", times) or ()), report, as_json, svg)
