"""`synperf evaluate`, on a report that takes no data to make."""

import json
import re
from pathlib import Path

import pytest

from synperf import evaluation
from synperf.errors import MissingExtraError
from synperf.evaluation import Errors, Report, Score, recipes
from synperf.evaluation.regimes import Regime
from synperf.report import scores
from synperf.training.baselines import RECIPES
from synperf.training.recipe import Recipe

from .runner import assert_refused, invoke

ERRORS = Errors(mape=0.25, median=0.2, p90=0.5, wmape=0.1, bias=-0.05)
ROOF = Errors(mape=0.5, median=0.4, p90=0.9, wmape=0.4, bias=-0.5)
SCORES = tuple(
    Score(
        gpu=gpu, engine="all", kernel="all", dtype="all", split=split, rows=1000, estimate=ERRORS, roofline=ROOF,
        coverage=0.8, below_floor=0.0, width=0.3, width_over_median=1.5,
    )
    for gpu in ("h100_sxm", "all")
    for split in ("all", "test")
)  # fmt: skip
REGIMES = tuple(
    Regime(
        gpu="h100_sxm",
        engine="vllm",
        kernel="cublas",
        dtype="bf16",
        band=band,
        split="all",
        rows=2000,
        shapes=40,
        coverage=share,
    )
    for band, share in (("up to 100 us", 0.81), ("up to 10 us", 0.7))
)
WHOLE = Regime(
    gpu="all",
    engine="all",
    kernel="all",
    dtype="bf16",
    band="up to 10 us",
    split="all",
    rows=3000,
    shapes=1,
    coverage=0.79,
)
REPORT = Report(
    family="gemm",
    origin="analytical",
    source="some rows 1.0",
    version="0.1.0",
    scores=SCORES,
    regimes=(*REGIMES, WHOLE),
)  # fmt: skip


def stand_in(monkeypatch, asked):
    def evaluate(family, origin, gpus, *, dtypes, **_):
        asked.append((family, origin, gpus, dtypes))
        return REPORT

    monkeypatch.setattr(evaluation, "evaluate", evaluate)


def test_the_report_is_shown_and_gpus_may_be_aliases(monkeypatch):
    asked = []
    stand_in(monkeypatch, asked)
    seen = invoke("evaluate", "gemm", "--gpu", "H100", "--gpu", "l40s", "--dtype", "bf16")
    assert (seen.code, seen.err) == (0, "")
    assert seen.out == scores.to_text(REPORT) + "\n"
    assert asked == [("gemm", None, ("H100", "l40s"), ("bf16",))]


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


def test_new_shapes_alone_without_a_recipe_are_of_what_is_shipped(monkeypatch):
    stand_in(monkeypatch, [])
    document = json.loads(invoke("evaluate", "--split", "new-shape", "--json").out)
    assert {score["split"] for score in document["scores"]} == {"test"}


@pytest.mark.parametrize("option", [("--seed", "0"), ("--hold-out", "l40s"), ("--out", "x.json"), ("--resume",)])
def test_what_is_of_fitted_recipes_is_refused_without_any(option):
    seen = invoke("evaluate", *option)
    assert_refused(seen)
    assert "is for recipes that are fitted; right would be --recipe" in seen.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--split", "unsen-gpu"), "split: no split named 'unsen-gpu'; nearest: unseen-gpu"),
        (("--recipe", "roofine"), "recipe: no recipe named 'roofine'; nearest: roofline"),
        (("--split", "random", "--recipe", "roofline", "--gpu", "h21"), "gpu: no GPU named 'h21'"),
        (("--split", "random", "--recipe", "roofline", "--dtype", "bf17"), "dtype: no dtype named 'bf17'"),
        (("--split", "unseen-gpu", "--recipe", "hybrid"), "recipe: hybrid knows the GPUs it was fitted to by name"),
        (("--split", "random", "--recipe", "roofline", "--hold-out", "l40s"), "hold_out: random leaves no GPU out"),
        (("--split", "random", "--recipe", "roofline", "--rows-per-group", "0"), "rows_per_group: must be at least 1"),
        (("--split", "random", "--recipe", "roofline", "--origin", "learned"), "origin: is of what"),
        (("--split", "random", "--recipe", "roofline", "--resume"), "resume: from where is not said"),
        (("--split", "paper-fp8", "--recipe", "roofline"), "data: paper-fp8 reads pipeweave_gemm_fp8_train.parquet"),
        (("--plot", "errors.png"), "plot: errors.png should end in .svg"),
    ],
)
def test_what_is_wrong_is_one_sentence(arguments, said, monkeypatch):
    monkeypatch.delenv("SYNPERF_DATA", raising=False)
    seen = invoke("evaluate", *arguments)
    assert_refused(seen)
    assert said in seen.err


@pytest.fixture
def measured(tmp_path):
    """GEMMs on two GPUs, as a user has them."""
    path = tmp_path / "rows.csv"
    shapes = [(m, n, k) for m in (1, 64, 512, 4096) for n in (256, 1024, 4096) for k in (512, 2048)]
    lines = [
        f"{gpu},{m},{n},{k},bf16,{5 + m * n * k / 1e9 * speed:.3f}"
        for gpu, speed in (("l40s", 6), ("a100_sxm", 9))
        for m, n, k in shapes
    ]
    path.write_text("\n".join(["gpu,m,n,k,dtype,time_us", *lines]) + "\n")
    return path


def test_recipes_are_compared_on_the_rows_of_a_file(measured, tmp_path):
    out, plot = tmp_path / "found.json", tmp_path / "found.svg"
    arguments = ("--split", "random", "--recipe", "roofline", "--rows", str(measured), "--out", str(out))
    seen = invoke("evaluate", "gemm", *arguments, "--plot", str(plot), "--json")
    assert (seen.code, seen.err) == (0, f"synperf: {plot}: errors by GPU\n")
    assert json.loads(seen.out) == json.loads(out.read_text())
    assert json.loads(seen.out)["settings"]["source"] == "rows.csv"
    assert plot.read_text().count("<rect") == 1 + 1 + 2  # the page, the legend, a bar for each GPU


def test_the_results_may_not_replace_the_rows(measured):
    seen = invoke("evaluate", "--recipe", "roofline", "--rows", str(measured), "--out", str(measured))
    assert_refused(seen)
    assert "is the file of --rows itself" in seen.err


@pytest.mark.parametrize("place", [("--out", "none/found.json"), ("--plot", "none/found.svg"), ("--out", ".")])
def test_a_place_that_takes_no_file_is_told_before_anything_is_fitted(measured, monkeypatch, place):
    monkeypatch.setitem(RECIPES, "linear", Recipe(name="linear", summary="", fit=lambda *_: pytest.fail("fitted")))
    seen = invoke("evaluate", "--split", "random", "--recipe", "linear", "--rows", str(measured), *place)
    assert_refused(seen)
    option, path = place
    said = "no folder" if "none" in path else "'.' is there and is no file"
    assert f"synperf: {option.lstrip('-')}: {said}" in seen.err


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_fitted(measured, full_disk, monkeypatch):
    monkeypatch.setitem(RECIPES, "linear", Recipe(name="linear", summary="", fit=lambda *_: pytest.fail("fitted")))
    for option, name in (("--out", "found.json"), ("--plot", "found.svg")):
        place = (option, str(measured.with_name(name)))
        seen = invoke("evaluate", "--split", "random", "--recipe", "linear", "--rows", str(measured), *place)
        assert_refused(seen)
        assert f"nothing can be written into the folder {str(measured.parent)!r}: {full_disk}" in seen.err


def test_the_plot_of_what_is_shipped_needs_its_folder_first(monkeypatch):
    monkeypatch.setattr(evaluation, "evaluate", lambda *_, **__: pytest.fail("evaluated"))
    seen = invoke("evaluate", "gemm", "--plot", "none/found.svg")
    assert_refused(seen)
    assert "plot: no folder" in seen.err


def test_rows_that_name_no_gpu_are_of_the_one_that_is_given(measured, tmp_path):
    lines = [line.partition(",") for line in measured.read_text().splitlines()]
    alone = tmp_path / "alone.csv"
    alone.write_text("\n".join([lines[0][2], *(rest for gpu, _, rest in lines if gpu == "l40s")]) + "\n")
    arguments = ("evaluate", "--split", "random", "--recipe", "roofline", "--json")
    named = json.loads(invoke(*arguments, "--rows", str(measured), "--gpu", "l40s").out)["results"]
    given = json.loads(invoke(*arguments, "--rows", str(alone), "--gpu", "l40s").out)["results"]
    assert [(r["gpu"], r["rows"], r["errors"]) for r in given] == [(r["gpu"], r["rows"], r["errors"]) for r in named]
    for several in ((), ("--gpu", "l40s", "--gpu", "l40")):
        seen = invoke(*arguments, "--rows", str(alone), *several)
        assert_refused(seen)
        assert "gpu is empty, and none is given for all rows; right would be a column gpu" in seen.err


def test_every_recipe_that_the_page_lists_has_that_name():
    page = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")
    table = page.split("| recipe | what it is |\n|---|---|\n")[1].split("\n\n")[0]
    listed = {name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert listed == set(recipes.names())


def test_a_gpu_that_is_left_out_needs_another_one(measured):
    seen = invoke("evaluate", "--split", "unseen-gpu", "--recipe", "roofline", "--rows", str(measured), "--gpu", "l40s")
    assert_refused(seen)
    assert "leaving out l40s leaves no GPU to fit to" in seen.err


@pytest.mark.parametrize("split", ["few-shot", "sibling", "unseen-gpu"])
def test_rows_without_the_usual_format_are_told_which_they_have(measured, split):
    measured.write_text(measured.read_text().replace("bf16,", "fp32,9"))  # fp32 is slower
    seen = invoke("evaluate", "--split", split, "--recipe", "roofline", "--rows", str(measured))
    assert_refused(seen)
    said = "none are of bf16 (the one of splits that leave GPUs out), but of fp32; right would be --dtype fp32"
    assert seen.err == f"synperf: rows: {said}\n"


def test_an_interrupt_is_one_line_and_what_was_found_before_stays(measured, tmp_path, monkeypatch):
    out = tmp_path / "found.json"
    stopped = Recipe(name="linear", summary="", fit=interrupted)
    monkeypatch.setitem(RECIPES, "linear", stopped)
    arguments = ("evaluate", "--split", "random", "--rows", str(measured), "--out", str(out))
    seen = invoke(*arguments, "--recipe", "roofline", "--recipe", "linear")
    assert (seen.code, seen.out, seen.err) == (130, "", "synperf: interrupted\n")
    assert {r["recipe"] for r in json.loads(out.read_text())["results"]} == {"roofline"}
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".part"] == []


def interrupted(*_):
    raise KeyboardInterrupt


def test_the_text_has_all_rows_and_test_rows_beside_the_roofline():
    assert scores.to_text(REPORT) == TEXT


TEXT = """\
analytical estimate of gemm, synperf 0.1.0, on some rows 1.0

all rows
gpu        rows  mean  median   P90  wMAPE  bias  covered   half-width  below floor  roofline mean
h100_sxm  1,000  25 %    20 %  50 %   10 %  -5 %     80 %  30 % (1.5x)          0 %           50 %
all       1,000  25 %    20 %  50 %   10 %  -5 %     80 %  30 % (1.5x)          0 %           50 %

1 regimes of 1,000 rows or more: intervals hold 79 % to 79 %; outside 77 % to 83 %: 0
  bf16: up to 10 us: 79 % of 3,000 rows of 1 shape

2 cells of 1,000 rows or more: intervals hold 70 % to 81 %; outside 77 % to 83 %: 1
  vllm.cublas.bf16 on h100_sxm, up to 10 us: 70 % of 2,000 rows of 40 shapes

test rows
gpu        rows  mean  median   P90  wMAPE  bias  covered   half-width  below floor  roofline mean
h100_sxm  1,000  25 %    20 %  50 %   10 %  -5 %     80 %  30 % (1.5x)          0 %           50 %
all       1,000  25 %    20 %  50 %   10 %  -5 %     80 %  30 % (1.5x)          0 %           50 %

Absolute relative errors; wMAPE weighs a row by its time; bias above 0 is too slow; covered is the share of measured \
times inside the interval, which means to hold 80 %; half-width is the median of half the interval over the estimate, \
and over the median error in brackets; below floor should be 0. A regime is a format and a band of estimated times; a \
cell is that of one GPU, engine and kernel; +- is the standard error over shapes."""
