"""Tell whether run B is slower than run A by their traces, and where the time of a step went.

For example: synperf compare before.json.gz after.json.gz --fail-above 3%, or of jobs of many ranks: synperf compare
before/ after/
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from ...analysis.compare import Comparison, Verdict
from ...analysis.compare import compare as asked
from ...errors import FieldError
from ...report import trace_comparison as report
from ..arguments import AsJson
from ..bars import stages
from ..show import show

FAILED = 1
_PERCENT = re.compile(r"(\d+\.?\d*|\.\d+)\s*%")


def compare(
    a: Annotated[
        Path, typer.Argument(metavar="A", help="the trace to compare with, or a folder with one of each rank")
    ],
    b: Annotated[Path, typer.Argument(metavar="B", help="the one that is faster, slower, or neither")],
    fail_above: Annotated[
        str | None,
        typer.Option(metavar="PERCENT", help="exit code 1 where steps of B are slower by more than that, such as 3%"),
    ] = None,
    as_json: AsJson = False,
) -> int:
    limit = None if fail_above is None else _share(fail_above)
    with stages() as told:
        found = asked(a, b, progress=told, workers=os.cpu_count() or 1)
    if limit is not None and not found.can_tell:
        raise FieldError(_too_few(found))
    show(as_json, lambda: report.to_dict(found), lambda: report.to_text(found))
    failed = limit is not None and found.verdict is Verdict.SLOWER and found.change > limit
    return FAILED if failed else 0


def _share(text: str) -> float:
    match = _PERCENT.fullmatch(text.strip())
    if match is None:
        raise FieldError(f"fail-above: {text[:40]!r} is not a percentage; right would be one such as 3%")
    return float(match[1]) / 100


def _too_few(found: Comparison) -> str:
    return (
        f"fail-above: with {found.a.steps} and {found.b.steps} steps no difference can be told from chance; right"
        " would be traces of at least 4 whole steps each"
    )
