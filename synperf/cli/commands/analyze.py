"""Tell where the time of a profiler's trace went: busy, exposed, idle and why; steps, kernels, collectives, findings.

For example: synperf analyze rank0.json.gz rank1.json.gz --html report.html
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ...analysis import read
from ...analysis.recorded import analyze_records, are_recorded
from ...analysis.whole import analyze_traces
from ...report import analysis as report
from ...report import records
from ...report.redact import redacted
from ..bars import stages
from ..output_options import AsJson
from ..show import show, text_of
from ..trace_files import Files, part_of


def analyze(
    traces: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="a trace, or one of each rank; its content says what it is")
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
    full: Annotated[bool, typer.Option("--full", help="all tables after the first screen")] = False,
    as_json: AsJson = False,
) -> None:
    files = Files(
        html=html, markdown=markdown, csv=csv, perfetto=perfetto, part=part_of(window, rank or (), stream or ()),
        is_redacted=redact,
    )  # fmt: skip
    files.check(traces)
    if are_recorded(traces):
        files.require_none(traces[0])
        results = analyze_records(traces)
        show(as_json, lambda: records.to_dict(results), lambda: records.to_text(results))
        return
    with stages() as told:
        events = read(traces, progress=told, workers=os.cpu_count() or 1)
    whole = analyze_traces(events)
    found = redacted(whole) if redact else whole
    with files.written(events, found):
        shown = text_of(as_json, lambda: report.to_dict(found), lambda: report.to_text(found, full))
        print(shown, flush=True)  # before the files have their names: without the text there are none
