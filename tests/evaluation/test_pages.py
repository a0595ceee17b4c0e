"""Tables of the docs, written between markers."""

import pytest

from synperf.errors import FileFormatError
from synperf.evaluation.evaluate import Report, Score
from synperf.evaluation.metrics import Errors
from synperf.evaluation.pages import accuracy_tables, audit_tables, filled, write
from synperf.measurements.aiconfigurator import FileAudit

PAGE = "# Title\n<!-- one: begin -->\nold\n<!-- one: end -->\nafter\n"


def test_only_what_is_between_the_markers_changes():
    expected = "# Title\n<!-- one: begin -->\n| new |\n<!-- one: end -->\nafter\n"
    assert filled(PAGE, {"one": "| new |"}, "page") == expected
    assert filled(expected, {"one": "| new |"}, "page") == expected


def test_a_table_without_markers_is_refused():
    with pytest.raises(FileFormatError, match="page: needs one pair of markers `<!-- two: begin -->`"):
        filled(PAGE, {"two": ""}, "page")


def test_a_page_that_lacks_markers_is_left_as_it_was(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    with pytest.raises(FileFormatError):
        write(page, {"one": "new", "two": "new"})
    assert page.read_text() == PAGE


def test_a_page_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="no such page"):
        write(tmp_path / "page.md", {})


def test_an_accuracy_table_has_percentages_and_both_models():
    errors = Errors(mape=0.123, median=0.1, p90=0.5, wmape=0.2, bias=-0.05)
    score = Score(
        gpu="toy", engine="all", kernel="all", dtype="all", split="all", rows=1234,
        estimate=errors, roofline=errors, coverage=0.8, below_floor=0.00001,
    )  # fmt: skip
    report = Report(family="gemm", origin="analytical", source="toy rows", version="1", scores=(score,))
    line = accuracy_tables(report)["all rows"].splitlines()[2]
    assert line == "| toy | 1,234 | 12.3% | 10.0% | 50.0% | 20.0% | -5.0% | 80.0% | 0.001% | 12.3% | 10.0% |"


def test_an_audit_table_adds_up():
    files = [
        FileAudit(source=name, gpu="toy", rows=10, kept=7, keys=7, dropped={"stub": 1, "eager": 2}) for name in "ab"
    ]
    tables = audit_tables(files)
    assert tables["files"].splitlines()[-1] == "| all | 20 | 14 | 6 |"
    assert tables["reasons"].splitlines()[2:] == ["| eager | 4 |", "| stub | 2 |"]
