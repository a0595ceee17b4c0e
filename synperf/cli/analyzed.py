"""The answer of `synperf analyze`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..analysis import read
from ..analysis.recorded import are_recorded
from ..analysis.whole import Analysis, analyze_traces
from ..report import analysis as report
from .bars import stages
from .show import show, text_of
from .trace_files import Files


def answer(
    traces: Sequence[Path],
    files: Files,
    is_redacted: bool,
    as_json: bool,
    cache: Path | None = None,
    in_full: bool = False,
) -> None:
    """Writes the files that are asked for, and prints text or JSON."""
    if are_recorded(traces):
        files.require_none(traces[0])
        _show_records(traces, as_json)
        return
    with stages() as told:
        events = read(traces, progress=told, workers=os.cpu_count() or 1, cache=cache)
    whole = analyze_traces(events)
    found = _redacted(whole) if is_redacted else whole
    with files.written(events, found):
        shown = text_of(as_json, lambda: report.to_dict(found), lambda: report.to_text(found, in_full))
        print(shown, flush=True)  # before the files have their names: without the text there are none


def _show_records(paths: Sequence[Path], as_json: bool) -> None:
    from ..analysis.recorded import analyze_records  # a timeline needs none of it
    from ..report import records

    results = analyze_records(paths)
    show(as_json, lambda: records.to_dict(results), lambda: records.to_text(results))


def _redacted(whole: Analysis) -> Analysis:
    from ..report.redact import redacted

    return redacted(whole)
