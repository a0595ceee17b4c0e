"""Hold worked examples and claims that are in print against exact numbers, and tell why they differ.

For example: synperf textbook E26
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.textbook import textbook as calculate
from .....report.calculators import textbook as report
from ....calculated import show_drawn
from ....output_options import AsJson, Svg


def textbook(
    keys: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY]...", help="E26, W-70, ... or a topic such as training; all if none"),
    ] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    show_drawn(calculate(keys or ()), report, as_json, svg)
