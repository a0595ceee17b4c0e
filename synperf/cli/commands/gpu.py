"""Show one GPU: every field with unit and source, peaks and ridges per format, what was measured on it."""

from __future__ import annotations

from typing import Annotated

import typer

from ...report import gpus as report
from ..arguments import AsJson, Changes, device
from ..show import show


def gpu(
    name: Annotated[str, typer.Argument(metavar="NAME", help="a name from `synperf gpus`, or a TOML file")],
    changes: Changes = None,
    as_json: AsJson = False,
) -> None:
    found = device(name, changes)
    show(as_json, lambda: report.to_dict(found), lambda: report.to_text(found))
