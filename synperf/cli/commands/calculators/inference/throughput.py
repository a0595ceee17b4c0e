"""Tell what the figures that a serving benchmark prints say of one request and of all in flight.

For example: synperf throughput --requests 772 --duration-s 330 --output-tokens 174589 --mean-ttft-ms 249
--mean-tpot-ms 108
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.throughput import throughput as calculate
from .....report.calculators import throughput as report
from ....calculated import show_drawn
from ....option_names import as_options
from ....output_options import AsJson, Svg


def throughput(
    requests: Annotated[int, typer.Option(metavar="N", help="requests that were answered")],
    duration_s: Annotated[float, typer.Option(metavar="S", help="from the first request to the last token")],
    output_tokens: Annotated[int, typer.Option(metavar="N", help="tokens of all answers")],
    mean_ttft_ms: Annotated[float, typer.Option(metavar="MS", help="mean time to the first token")],
    mean_tpot_ms: Annotated[float, typer.Option(metavar="MS", help="mean time between tokens of a request")],
    input_tokens: Annotated[int | None, typer.Option(metavar="N", help="tokens of all prompts")] = None,
    tokens_per_s: Annotated[float | None, typer.Option(metavar="X", help="as printed, to be checked")] = None,
    max_concurrency: Annotated[int | None, typer.Option(metavar="N", help="as set, to be checked")] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    with as_options(mean_ttft_s="mean-ttft-ms", mean_tpot_s="mean-tpot-ms"):
        found = calculate(
            requests=requests,
            duration_s=duration_s,
            output_tokens=output_tokens,
            mean_ttft_s=mean_ttft_ms / 1e3,
            mean_tpot_s=mean_tpot_ms / 1e3,
            input_tokens=input_tokens,
            tokens_per_s=tokens_per_s,
            max_concurrency=max_concurrency,
        )
    show_drawn(found, report, as_json, svg)
