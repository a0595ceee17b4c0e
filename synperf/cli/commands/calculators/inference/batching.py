"""Tell what batches of some sizes give: throughput, the rate in the long run, latency.

For example: synperf batching --batch 1=10ms --batch 8=20ms --batch 32=50ms --arrivals 300 --latency-limit 100ms
"""

from __future__ import annotations

from typing import Annotated

import typer

from .....calculators.batching import batching as calculate
from .....errors import FieldError
from .....report.calculators import batching as report
from ....calculated import show_drawn
from ....named_values import split, whole_number
from ....option_names import as_options
from ....output_options import AsJson, Svg
from ....quantities import quantity, quantity_or_none

NOT_WITH = {"arrivals": ("busy",)}


def batching(
    batch: Annotated[
        list[str] | None,
        typer.Option(metavar="SIZE=TIME", help="requests of a batch and the time it took; may be repeated"),
    ] = None,
    busy: Annotated[float, typer.Option(metavar="SHARE", help="of the time in which there is work")] = 1.0,
    arrivals: Annotated[float | None, typer.Option(metavar="X", help="requests that arrive a second")] = None,
    latency_limit: Annotated[str | None, typer.Option(metavar="TIME", help="mean latency that is allowed")] = None,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    sizes = [_size(name, parts) for name, parts in split("batch", batch or (), "32=50ms")]
    limit = quantity_or_none("latency-limit", latency_limit, "s")
    with as_options(batches="batch", batch_s="batch", arrivals_per_s="arrivals", latency_limit_s="latency-limit"):
        found = calculate(sizes, busy=busy, arrivals_per_s=arrivals, latency_limit_s=limit)
    show_drawn(found, report, as_json, svg)


def _size(name: str, parts: list[str]) -> tuple[int, float]:
    if len(parts) > 1:
        raise FieldError(f"batch: {name} has {len(parts)} times; right would be 32=50ms")
    return whole_number("batch", name), quantity("batch", parts[0], "s")
