"""Tables of the docs, written between markers."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from synperf.errors import FileFormatError
from synperf.evaluation import SPLITS, compare
from synperf.evaluation.evaluate import Report, Score
from synperf.evaluation.metrics import Errors
from synperf.evaluation.pages import accuracy_tables, audit_tables, card_tables, comparison_tables, filled, main, write
from synperf.evaluation.selection import Selection
from synperf.measurements.aiconfigurator import FileAudit

from ..estimators.toy_weights import toy
from .toy_pools import Spy, rows

DOCS = Path(__file__).parents[2] / "docs"
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
        estimate=errors, roofline=errors, coverage=0.8, below_floor=0.00001, width=0.25, width_over_median=2.5,
    )  # fmt: skip
    report = Report(family="gemm", origin="analytical", source="toy rows", version="1", scores=(score,))
    line = accuracy_tables(report, "best")["best: all rows"].splitlines()[2]
    figures = "12.3% | 10.0% | 50.0% | 20.0% | -5.0% | 80.0% | 25.0% (2.5x) | 0.001% | 12.3% | 10.0%"
    assert line == f"| toy | 1,234 | {figures} |"


def test_a_comparison_has_a_line_for_each_recipe_and_each_gpu():
    rows_of = [rows("l40s", 2.0), rows("a100_sxm", 4.0)]
    found = compare("gemm", "random", [Spy("one").recipe, Spy("other").recipe], rows=rows_of)
    tables = comparison_tables(found, "random")
    assert [line.split(" | ")[0] for line in tables["random"].splitlines()[2:]] == ["| one", "| other"]
    assert tables["random: GPUs"].splitlines()[2:] == ["| a100_sxm | 75.0% | 75.0% |", "| l40s | 50.0% | 50.0% |"]


def test_comparisons_are_written_where_the_page_has_a_place_for_them(tmp_path):
    out, page = tmp_path / "random.json", tmp_path / "accuracy.md"
    compare("gemm", "random", [Spy("one").recipe], rows=[rows("l40s")], out=out)
    page.write_text(PAGE + "<!-- random: begin -->\nold\n<!-- random: end -->\n")
    assert main(["--docs", str(tmp_path), "--origin", "--comparison", str(out)]) == 0
    assert "| one | 50.0% |" in page.read_text()
    page.write_text(PAGE)
    assert main(["--docs", str(tmp_path), "--origin", "--comparison", str(out)]) == 2
    assert page.read_text() == PAGE


def test_a_comparison_of_other_rows_goes_where_the_page_has_a_place_for_as_many(tmp_path):
    page, files = tmp_path / "accuracy.md", {most: tmp_path / f"{most}.json" for most in (7, 9)}
    for most, out in files.items():
        selected = Selection(rows_per_group=most)
        compare("gemm", "random", [Spy(f"of_{most}").recipe], rows=[rows("l40s")], selection=selected, out=out)
    names = ("random", "random, 7 rows")
    page.write_text("\n".join(f"<!-- {name}: begin -->\n<!-- {name}: end -->" for name in names))
    assert main(["--docs", str(tmp_path), "--origin", "--comparison", *map(str, files.values())]) == 0
    wide, narrow = page.read_text().split("<!-- random, 7 rows: begin -->")
    assert ("of_9" in wide, "of_7" in wide) == (True, False)
    assert ("of_9" in narrow, "of_7" in narrow) == (False, True)


def test_the_recipes_that_take_minutes_stand_in_the_page_of_accuracy():
    text = (DOCS / "accuracy.md").read_text(encoding="utf-8")
    lines = text.split("<!-- new-shape, 150 rows: begin -->\n")[1].split("<!--")[0].splitlines()
    assert {"hybrid", "boosted", "paper", "neusight"} <= {line.split("|")[1].strip() for line in lines}


def means(table, column):
    """The mean errors of a table of the page of accuracy, in per cent, least first."""
    text = (DOCS / "accuracy.md").read_text(encoding="utf-8")
    lines = text.split(f"<!-- {table}: begin -->\n")[1].split("\n<!--")[0].splitlines()[2:]
    return sorted(float(line.split("|")[column].strip().rstrip("%")) for line in lines)


def test_the_page_of_limits_says_what_the_page_of_accuracy_does():
    text = " ".join((DOCS / "limits.md").read_text(encoding="utf-8").split())
    by_gpu, by_kernel = means("best: test rows", 3), means("best: kernels", 6)
    assert f"{by_gpu[0]:.0f} to {by_gpu[-1]:.0f} % off in the mean on the GPUs" in text
    assert f"{by_kernel[0]} to {by_kernel[-1]} % on each engine, kernel and format" in text


def test_the_page_of_accuracy_has_a_place_for_every_table_that_is_asked_for():
    text = (DOCS / "accuracy.md").read_text(encoding="utf-8")
    asked = set(re.findall(r"<!-- (.*?): begin -->", text))
    report = Report(family="gemm", origin="best", source="", version="1", scores=())
    found = compare("gemm", "random", [Spy("one").recipe], rows=[rows("l40s")])
    known = {name for origin in ("best", "measured", "analytical") for name in accuracy_tables(report, origin)}
    known |= {name for split in (*SPLITS, "new-shape, 150 rows") for name in comparison_tables(found, split)}
    assert asked <= known


def test_a_card_has_a_line_for_the_gpus_that_were_left_out():
    score = {"rows": 3000.0, "mape": 0.123, "median": 0.1, "coverage": 0.789}
    own = toy().card
    card = replace(own, networks=tuple(replace(n, left_out={"l40s": score}) for n in own.networks))
    lines = card_tables(card)["card: left out"].splitlines()[2:]
    assert lines == ["| bf16 | l40s | 3,000 | 12.3% | 10.0% | 78.9% |"] * len(card.networks)


def test_an_audit_table_adds_up():
    files = [
        FileAudit(source=name, gpu="toy", rows=10, kept=7, keys=7, dropped={"stub": 1, "eager": 2}) for name in "ab"
    ]
    tables = audit_tables(files)
    assert tables["files"].splitlines()[-1] == "| all | 20 | 14 | 6 |"
    assert tables["reasons"].splitlines()[2:] == ["| eager | 4 |", "| stub | 2 |"]
