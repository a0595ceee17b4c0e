"""Evaluate an estimator on measured rows: errors per GPU beside those of the plain roofline. Needs the extra [data]."""

from __future__ import annotations

from typing import Annotated

import typer

from ... import evaluation, hardware
from ...kernels import family as family_named
from ...report import scores
from ..arguments import AsJson
from ..bars import stages
from ..show import show


def evaluate(
    family: Annotated[str, typer.Argument(metavar="FAMILY", help="a family from `synperf kernels`")] = "gemm",
    origin: Annotated[str, typer.Option(metavar="NAME", help="the estimator")] = "analytical",
    gpu: Annotated[list[str] | None, typer.Option(metavar="NAME", help="only this GPU; may be repeated")] = None,
    as_json: AsJson = False,
) -> None:
    keys = [hardware.gpu(name).key for name in gpu] if gpu else None
    with stages() as told:
        report = evaluation.evaluate(family_named(family).name, origin, keys, progress=told)
    show(as_json, report.to_dict, lambda: scores.to_text(report))
