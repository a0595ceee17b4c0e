"""Evaluate an estimator on measured rows: errors per GPU beside those of the plain roofline. Needs the extra [data]."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from ... import evaluation, hardware
from ...kernels import family as family_named
from ...report import scores
from ..arguments import AsJson
from ..show import show


def evaluate(
    family: Annotated[str, typer.Argument(metavar="FAMILY", help="a family from `synperf kernels`")] = "gemm",
    origin: Annotated[str, typer.Option(metavar="NAME", help="the estimator")] = "analytical",
    gpu: Annotated[list[str] | None, typer.Option(metavar="NAME", help="only this GPU; may be repeated")] = None,
    as_json: AsJson = False,
) -> None:
    keys = [hardware.gpu(name).key for name in gpu] if gpu else None
    with progress() as report_progress:
        report = evaluation.evaluate(family_named(family).name, origin, keys, progress=report_progress)
    show(as_json, report.to_dict, lambda: scores.to_text(report))


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar on standard error where that is a terminal, else nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading")
        yield lambda key, done, total: bar.update(task, description=key, completed=done, total=total)
