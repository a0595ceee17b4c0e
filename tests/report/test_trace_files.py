"""Markdown and CSV of a trace: the numbers of the JSON, and nothing that breaks the format."""

import csv
import io
import json

import pytest

from synperf.analysis.whole import analyze_traces
from synperf.report.analysis import to_dict
from synperf.report.trace_csv import to_csv
from synperf.report.trace_markdown import to_markdown

from .analysed import REAL, real, traces


@pytest.mark.parametrize("name", REAL)
def test_a_csv_is_a_table_of_the_json(name):
    found = real(name)
    document, files = to_dict(found), to_csv(found)
    keys = (
        "ranks", "steps", "families", "kernels", "gaps", "launches", "copies", "dataloader", "late_ranks", "gpus",
        "operators", "geometry", "checks",
    )  # fmt: skip
    for key in keys:
        if not document[key]:
            assert f"{key}.csv" not in files
            continue
        rows = list(csv.DictReader(io.StringIO(files[f"{key}.csv"])))
        assert list(rows[0]) == list(document[key][0])
        for row, one in zip(rows, document[key], strict=True):
            for column, value in one.items():
                assert row[column] == ("" if value is None else value if isinstance(value, str) else json_cell(value))


def json_cell(value):
    return json.dumps(value, separators=(",", ":"))


def test_rows_within_rows_are_a_table_of_their_own(tmp_path):
    found = analyze_traces(traces(tmp_path, 2))
    arrivals = list(csv.DictReader(io.StringIO(to_csv(found)["collectives_arrivals.csv"])))
    assert [(one["collectives_row"], one["rank"], one["offset_ns"]) for one in arrivals] == [
        ("0", "0", "0"),
        ("0", "1", "150000"),
    ]
    assert "arrivals" not in to_csv(found)["collectives.csv"]


def test_slices_of_the_timeline_are_rows(tmp_path):
    found = analyze_traces(traces(tmp_path))
    rows = list(csv.DictReader(io.StringIO(to_csv(found)["timeline.csv"])))
    assert len(rows) == 240
    assert sum(int(one["compute_ns"]) for one in rows) == found.overlaps[0].compute_ns


@pytest.mark.parametrize("name", REAL)
def test_every_table_of_the_markdown_has_rows_of_one_length(name):
    lines = to_markdown(real(name)).splitlines()
    tables = [line.replace(r"\|", "") for line in lines if line.startswith("|")]
    widths = [line.count("|") for line in tables]
    assert all(
        a == b for a, b, line in zip(widths, widths[1:], tables[1:], strict=False) if line.startswith("| -") or a == b
    )
    assert lines[0] == "# Where the time went"


def test_names_are_no_marks_in_markdown(tmp_path):
    text = to_markdown(analyze_traces(traces(tmp_path)))
    assert r"ampere\_sgemm\_128x64\</script\>\<b\>" in text
