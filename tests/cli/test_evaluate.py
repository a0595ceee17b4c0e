"""`synperf evaluate`, on a report that takes no data to make."""

import json

from synperf import evaluation
from synperf.errors import MissingExtraError
from synperf.evaluation import Errors, Report, Score
from synperf.report import scores

from .runner import assert_refused, invoke

ERRORS = Errors(mape=0.25, median=0.2, p90=0.5, wmape=0.1, bias=-0.05)
ROOF = Errors(mape=0.5, median=0.4, p90=0.9, wmape=0.4, bias=-0.5)
SCORES = tuple(
    Score(
        gpu=gpu, engine="all", kernel="all", dtype="all", split=split, rows=1000, estimate=ERRORS, roofline=ROOF,
        coverage=0.8, below_floor=0.0,
    )
    for gpu in ("h100_sxm", "all")
    for split in ("all", "test")
)  # fmt: skip
REPORT = Report(family="gemm", origin="analytical", source="some rows 1.0", version="0.1.0", scores=SCORES)


def stand_in(monkeypatch, asked):
    def evaluate(family, origin, gpus, *, progress=None):
        asked.append((family, origin, gpus, progress))
        return REPORT

    monkeypatch.setattr(evaluation, "evaluate", evaluate)


def test_the_report_is_shown_and_gpus_may_be_aliases(monkeypatch):
    asked = []
    stand_in(monkeypatch, asked)
    seen = invoke("evaluate", "gemm", "--gpu", "H100", "--gpu", "l40s")
    assert (seen.code, seen.err) == (0, "")
    assert seen.out == scores.to_text(REPORT) + "\n"
    assert asked == [("gemm", "analytical", ["h100_sxm", "l40s"], None)]


def test_json_is_the_report(monkeypatch):
    stand_in(monkeypatch, [])
    assert json.loads(invoke("evaluate", "--json").out)["scores"][0]["estimate"]["mape"] == 0.25


def test_without_the_data_one_line_says_how_to_get_it(monkeypatch):
    def missing(*_, **__):
        raise MissingExtraError.of("reading measured rows", "data")

    monkeypatch.setattr(evaluation, "evaluate", missing)
    seen = invoke("evaluate")
    assert_refused(seen)
    assert seen.err == "synperf: reading measured rows needs the extra [data]: pip install 'synperf[data]'\n"


def test_the_text_has_all_rows_and_test_rows_beside_the_roofline():
    assert scores.to_text(REPORT) == TEXT


TEXT = """\
analytical estimate of gemm, synperf 0.1.0, on some rows 1.0

all rows
gpu        rows  mean  median   P90  wMAPE  bias  covered  below floor  roofline mean
h100_sxm  1,000  25 %    20 %  50 %   10 %  -5 %     80 %          0 %           50 %
all       1,000  25 %    20 %  50 %   10 %  -5 %     80 %          0 %           50 %

test rows
gpu        rows  mean  median   P90  wMAPE  bias  covered  below floor  roofline mean
h100_sxm  1,000  25 %    20 %  50 %   10 %  -5 %     80 %          0 %           50 %
all       1,000  25 %    20 %  50 %   10 %  -5 %     80 %          0 %           50 %

Absolute relative errors; wMAPE weighs a row by its time; bias above 0 is too slow; covered is the share of measured \
times inside the interval, which means to hold 80 %; below floor should be 0."""
