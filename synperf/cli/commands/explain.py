"""Explain the time of one kernel: tiles, waves, the busiest SM, every pipe, occupancy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ... import api
from ...errors import FieldError
from ...report import explanations
from ...tables import outfile
from ..arguments import AsJson, Changes, Family, Fields, GpuName, Origin, Tiles, call, device, tiles_of
from ..show import text_of


def explain(
    family: Family = None,
    fields: Fields = None,
    gpu: GpuName = None,
    changes: Changes = None,
    origin: Origin = None,
    tile_profile: Tiles = None,
    svg: Annotated[str | None, typer.Option(metavar="FILE", help="draw the waves over the SMs")] = None,
    as_json: AsJson = False,
) -> None:
    if origin not in (None, "analytical"):
        raise FieldError(f"origin: an explanation is analytical, since its parts add up to its time, got {origin!r}")
    explanation = api.explain(call(family, fields), device(gpu, changes), tiles=tiles_of(tile_profile))
    shown = text_of(as_json, lambda: explanations.to_dict(explanation), lambda: explanations.to_text(explanation))
    if svg is not None:
        with outfile.replacing("svg", Path(svg)) as part:
            part.write_text(explanations.drawing(explanation), encoding="utf-8")
    print(shown)
