"""Explain the time of one kernel: tiles, waves, the busiest SM, every pipe, occupancy."""

from __future__ import annotations

from typing import Annotated

import typer

from ... import api
from ...achieved import achieved
from ...errors import FieldError
from ...report import drawings, explanations
from ...tables import outfile
from ...units import parse_quantity
from ..arguments import (
    AsJson,
    Calibration,
    Changes,
    Family,
    Fields,
    GpuName,
    Origin,
    Tiles,
    Weights,
    call,
    device,
    tiles_of,
)
from ..drawn import print_and_draw
from ..show import text_of


def explain(
    family: Family = None,
    fields: Fields = None,
    gpu: GpuName = None,
    changes: Changes = None,
    origin: Origin = None,
    tile_profile: Tiles = None,
    calibration: Calibration = None,
    weights: Weights = None,
    took: Annotated[
        str | None, typer.Option(metavar="TIME", help="what you measured, such as 3.4ms: how much of the GPU that is")
    ] = None,
    svg: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="draw the waves over the SMs; of unequal tiles every SM, of experts their rows"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    if svg is not None:
        read = {"gpu": gpu, "tile-profile": tile_profile, "calibration": calibration, "weights": weights}
        outfile.require_other("svg", svg, read)
    one, gpu_object, tiles = call(family, fields), device(gpu, changes), tiles_of(tile_profile)
    explanation = api.explain(one, gpu_object, origin=origin, tiles=tiles, calibration=calibration, weights=weights)
    rates = None if took is None else achieved(explanation, _seconds(took))
    shown = text_of(
        as_json, lambda: explanations.to_dict(explanation, rates), lambda: explanations.to_text(explanation, rates)
    )
    print_and_draw(shown, svg, lambda: drawings.drawing(explanation))


def _seconds(text: str) -> float:
    try:
        return parse_quantity(text, "s")
    except FieldError as wrong:
        raise FieldError(f"took: {wrong}") from None
