"""Tell where the time of a profiler's trace went: busy, exposed, idle and why; steps, kernels, collectives, findings.

For example: synperf analyze rank0.json.gz rank1.json.gz --html report.html
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..analyzed import answer
from ..output_options import AsJson
from ..trace_files import Files, part_of


def analyze(
    traces: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="a trace, or one of each rank, or a folder of them; known by content"),
    ],
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="one page that needs no network")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="DIR", help="a new folder with a file for each table")] = None,
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="for an issue or a pull request")] = None,
    perfetto: Annotated[
        Path | None, typer.Option(metavar="FILE", help="events that Perfetto opens, with findings and gaps as tracks")
    ] = None,
    window: Annotated[
        str | None,
        typer.Option("--slice", metavar="START..END", help="of --perfetto: from the first GPU event, as 10ms..25ms"),
    ] = None,
    rank: Annotated[
        list[int] | None, typer.Option(metavar="NUMBER", help="of --perfetto: only this rank; may be repeated")
    ] = None,
    stream: Annotated[
        list[int] | None, typer.Option(metavar="NUMBER", help="of --perfetto: only this GPU stream; may be repeated")
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="pseudonyms for names of programs, files and groups; no metadata")
    ] = False,
    cache: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="keeps what is read in this folder, for files that have not changed"),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="all tables after the first screen")] = False,
    as_json: AsJson = False,
) -> None:
    files = Files(
        html=html, markdown=markdown, csv=csv, perfetto=perfetto, part=part_of(window, rank or (), stream or ()),
        is_redacted=redact,
    )  # fmt: skip
    files.check(traces)
    answer(traces, files, redact, as_json, cache, full)
