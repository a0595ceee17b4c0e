"""Recipes on equal rows: what they are given, what is scored, what is kept."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from synperf import hardware
from synperf.errors import FieldError, FileFormatError
from synperf.evaluation import compare, corrections, runs, splits
from synperf.evaluation.results import RECORD, ZERO_SHOT, few_shot
from synperf.evaluation.selection import Selection
from synperf.measurements import Rows
from synperf.report import comparison_plot, comparisons
from synperf.training.recipe import Recipe, by_launch

from .toy_pools import EXTENTS, Spy, identities, roofline_s, rows

GPUS = ("a100_sxm", "h100_sxm", "h200_sxm", "l40s")
MANY = [(m, n, k) for m in (1, 16, 300, 4096) for n in range(256, 8192, 512) for k in (512, 1000, 4096, 5000, 16384)]


def parts(factor=2.0, gpus=GPUS, **given):
    return [rows(gpu, factor, **given) for gpu in gpus]


def test_every_recipe_has_the_same_rows_and_no_scored_row_is_fitted_to():
    spies = [Spy("one"), Spy("other")]
    compare("gemm", splits.RANDOM, [spy.recipe for spy in spies], rows=parts())
    fitted, asked = ([identities(getattr(spy, name)[0]) for spy in spies] for name in ("fitted", "asked"))
    assert fitted[0] == fitted[1]
    assert asked[0] == asked[1]
    assert not fitted[0] & asked[0]


def test_errors_are_of_all_rows_and_of_each_gpu():
    twice, thrice = rows("l40s", 2.0), rows("a100_sxm", 3.0)
    found = compare("gemm", splits.NEW_SHAPE, [Spy().recipe], rows=[twice, thrice])
    by_gpu = {r.gpu: r.errors.mape for r in found.results}
    assert by_gpu == pytest.approx({"all": (1 / 2 + 2 / 3) / 2, "a100_sxm": 2 / 3, "l40s": 1 / 2})
    assert found.means()[0].errors.bias == pytest.approx(-(1 / 2 + 2 / 3) / 2)


def test_a_baseline_by_name_stands_beside_a_recipe_of_ones_own():
    found = compare("gemm", splits.NEW_SHAPE, ["roofline", Spy().recipe], rows=parts())
    assert found.recipes() == ("roofline", "spy")
    assert found.of("roofline")[0].errors.mape == pytest.approx(0)  # one factor is all there is to find


def test_where_gpus_are_left_out_no_recipe_sees_them_or_what_was_measured_on_them():
    spy = Spy()
    found = compare("gemm", splits.UNSEEN_GPU, [spy.recipe], rows=parts())
    assert found.cases() == ("a100_sxm", "h100_sxm+h200_sxm", "l40s")
    for fitted, devices, case in zip(spy.fitted, spy.devices, found.cases(), strict=True):
        away = set(case.split("+"))
        assert not away & set(fitted.gpu)
        assert not away & {gpu.calibration.launch_floor_from for gpu in devices.values()}
        assert all(devices[key].calibration.launch_floor_from not in ("", *away) for key in away)


def test_the_roofline_is_there_to_be_beaten_where_gpus_are_left_out():
    found = compare("gemm", splits.UNSEEN_GPU, [Spy("general").recipe], rows=parts(1.0))
    assert found.recipes() == ("general", "roofline")
    assert "no case or kernel is worse than the roofline times one factor of the others: yes" in comparisons.to_text(
        found
    )
    worse = compare("gemm", splits.UNSEEN_GPU, [Spy("general").recipe], rows=parts(2.0))
    everywhere = (
        "of the others: no: a100_sxm, h100_sxm+h200_sxm, l40s, vllm.cublas on a100_sxm, vllm.cublas on h100_sxm"
    )
    assert everywhere in comparisons.to_text(worse)


def test_every_kernel_of_a_gpu_that_is_left_out_is_listed_and_new_ones_are_marked():
    given = [rows("h100_sxm"), rows("h200_sxm"), rows("l40s", 4.0), rows("h200_sxm", 3.0, engine="trtllm")]
    found = compare("gemm", splits.SIBLING, [Spy().recipe], rows=given)
    assert found.cells() == (
        ("h100_sxm", "vllm.cublas", "unseen"),
        ("h200_sxm", "trtllm.cublas", "unseen-kernel"),
        ("h200_sxm", "vllm.cublas", "unseen"),
    )
    by_cell = {(r.gpu, r.kernel): r for r in found.results if r.recipe == "spy" and r.kernel != "all"}
    assert by_cell["h200_sxm", "trtllm.cublas"].is_new
    assert not by_cell["h200_sxm", "vllm.cublas"].is_new
    assert by_cell["h200_sxm", "trtllm.cublas"].errors.mape == pytest.approx(2 / 3)
    assert found.means()[0].errors.mape == pytest.approx(1 / 2)  # without the kernel that no kin ran
    shown = comparisons.to_text(found)
    assert "h200_sxm       trtllm.cublas" in shown
    assert "** no GPU that was fitted to ran this kernel" in shown


def test_growth_is_of_unseen_over_seen():
    slow = [rows(gpu, 4.0 if gpu == "l40s" else 2.0) for gpu in GPUS]
    chosen = Selection(hold_out=("l40s",))
    found = compare("gemm", splits.UNSEEN_GPU, [Spy().recipe], rows=slow, selection=chosen)
    assert found.growth("spy") == pytest.approx(0.75 / 0.5 - 1)
    assert "+50 %" in comparisons.to_text(found)


def test_a_twin_that_is_fitted_to_is_named():
    found = compare("gemm", splits.UNSEEN_GPU, ["roofline"], rows=parts(), selection=Selection(hold_out=("h100_sxm",)))
    assert "h200_sxm is fitted to, a twin of h100_sxm" in comparisons.to_text(found)


def test_the_rows_of_a_record_are_scored_by_no_recipe():
    spies = [Spy("general"), Spy("other")]
    found = compare("gemm", splits.UNSEEN_GPU, [s.recipe for s in spies], rows=parts(extents=MANY, gpus=GPUS[:2]))
    sizes = {r.rows for r in found.results if (r.part, r.gpu, r.case) == ("unseen", "all", "a100_sxm")}
    assert len(sizes) == 1
    fitted = int((~rows("a100_sxm", extents=MANY).is_test).sum())
    assert len(MANY) - fitted // 2 - 16 <= sizes.pop() < len(MANY) - fitted // 2  # some rows are drawn for both
    assert {r.variant for r in found.results if r.recipe == "general"} == {"", RECORD}
    assert {r.variant for r in found.results if r.recipe == "other"} == {""}


def test_a_record_is_of_large_streaming_and_small_shapes():
    large = [(4096 + 256 * i, 8192, 8192) for i in range(10)]
    streaming = [(1, 65536, 4096 + 512 * i) for i in range(10)]
    small = [(1, 64, 64 + 8 * i) for i in range(10)]
    part = rows("a100_sxm", extents=[*large, *streaming, *small, *EXTENTS[12:]])
    part = replace(part, is_test=np.arange(len(part)) % 10 == 0)
    chosen = part.take(corrections.record_rows(part, hardware.gpu("a100_sxm"), 42))
    assert len(identities(chosen)) == 16
    assert not chosen.is_test.any()
    assert (np.minimum(chosen.fields["m"], chosen.fields["k"]) >= 4096).sum() == 6
    assert (chosen.fields["m"] == 1).sum() == 10


class Corrected:
    """A predictor that few rows correct: it is `factor` times the roofline, and then what they are of it."""

    def __init__(self, factor, used=None):
        self.factor, self.used = factor, [] if used is None else used

    def __call__(self, rows, devices):
        found = np.empty(len(rows))
        for index, call, gpu, _ in by_launch(rows, devices):
            found[index] = self.factor * roofline_s(call, gpu)
        return found

    def corrected(self, rows, devices, _seed):
        self.used.append(rows)
        return Corrected(self.factor * float(np.median(rows.time_s / self(rows, devices))))


def test_few_rows_of_a_gpu_are_not_scored_and_more_of_them_hold_fewer():
    used, scored = [], Spy()
    recipe = Recipe(name="general", summary="", fit=lambda *_: Corrected(1.0, used))
    arguments = {"rows": parts(extents=MANY, gpus=("l40s", "a100_sxm")), "selection": Selection(hold_out=("l40s",))}
    found = compare("gemm", splits.FEW_SHOT, [recipe, scored.recipe], **arguments)
    fitted = int((~arguments["rows"][0].is_test).sum())
    steps = [min(count, fitted // 2) for count in runs.FEW]
    assert [len(part) for part in used] == steps * runs.FEW_DRAWS
    for draw in range(runs.FEW_DRAWS):
        own = [identities(part) for part in used[draw * len(steps) : (draw + 1) * len(steps)]]
        assert all(fewer <= more for fewer, more in itertools.pairwise(own))
        rest = [part for part in scored.asked if set(part.gpu) == {"l40s"}][draw]
        assert not own[-1] & identities(rest)
        assert not any(part.is_test.any() for part in used)
        assert len(own[-1]) + len(rest) == len(MANY)
    assert found.of("general", ZERO_SHOT)[0].errors.mape == pytest.approx(0.5)
    assert found.of("general", few_shot(20))[0].errors.mape == pytest.approx(0)
    assert found.worst_harm() == pytest.approx(-0.5)
    assert "few-shot minus zero-shot on the same rows, at its worst: -50.00 points" in comparisons.to_text(found)


def test_a_time_that_is_none_is_refused():
    broken = Recipe(name="broken", summary="", fit=lambda *_: lambda rows, _: np.full(len(rows), np.nan))
    with pytest.raises(FieldError, match="recipe: broken gave a time that is no positive number, in all"):
        compare("gemm", splits.RANDOM, [broken], rows=parts())


def counting(name, calls):
    spy = Spy(name)

    def fit(*given):
        calls.append(name)
        return spy.fit(*given)

    return Recipe(name=name, summary="", fit=fit)


def test_what_was_found_is_not_fitted_again(tmp_path):
    calls, out = [], tmp_path / "found.json"
    compare("gemm", splits.RANDOM, [counting("one", calls)], rows=parts(), out=out)
    both = [counting("other", calls), counting("one", calls)]
    found = compare("gemm", splits.RANDOM, both, rows=parts(), out=out, resume=True)
    assert calls == ["one", "other"]
    assert found.recipes() == ("other", "one")
    assert {r["recipe"] for r in json.loads(out.read_text())["results"]} == {"one", "other"}


def test_without_resume_all_is_fitted_again(tmp_path):
    calls, out = [], tmp_path / "found.json"
    for _ in range(2):
        compare("gemm", splits.RANDOM, [counting("one", calls)], rows=parts(), out=out)
    assert calls == ["one", "one"]


def test_resuming_needs_a_file():
    with pytest.raises(FieldError, match="resume: from where is not said"):
        compare("gemm", splits.RANDOM, [Spy().recipe], rows=parts(), resume=True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"selection": Selection(seed=7)}, "seed was 42 and is 7"),
        ({"rows": parts(3.0)}, "digest was"),
        ({"split": splits.NEW_SHAPE}, "split was random and is new-shape"),
        ({"source": "others"}, "source was toy rows and is others"),
        ({"selection": Selection(gpus=("l40s",))}, "gpus was not given and is l40s"),
    ],
)
def test_results_of_other_settings_are_not_gone_on_from(tmp_path, change, said):
    out = tmp_path / "found.json"
    given = {"split": splits.RANDOM, "recipes": [Spy().recipe], "rows": parts(), "source": "toy rows", "out": out}
    compare("gemm", **given)
    before = out.read_text()
    with pytest.raises(FieldError, match=said):
        compare("gemm", **{**given, "resume": True, **change})
    assert out.read_text() == before


@pytest.mark.parametrize("text", ['{"settings": 1}', '{"x":' + "[" * 100_000])
def test_a_file_that_is_none_of_ours_is_refused(tmp_path, text):
    out = tmp_path / "found.json"
    out.write_text(text)
    with pytest.raises(FileFormatError, match=r"found\.json: not the results of a comparison"):
        compare("gemm", splits.RANDOM, [Spy().recipe], rows=parts(), out=out, resume=True)


def test_progress_is_told_before_every_fit():
    told = []
    given = {"rows": parts(), "progress": lambda *what: told.append(what)}
    compare("gemm", splits.RANDOM, [Spy("one").recipe, Spy("other").recipe], **given)
    assert told == [("all: one", 0, 2), ("all: other", 1, 2)]


def test_the_paper_has_the_mean_of_its_gpus():
    own = [replace(rows(gpu, f), is_test=np.arange(48) % 3 == 0) for gpu, f in (("h20", 2.0), ("h800", 4.0))]
    text = comparisons.to_text(compare("gemm", splits.PAPER_FP8, [Spy().recipe], rows=own))
    assert next(line.split() for line in text.splitlines() if line.startswith("mean of the GPUs"))[-2:] == ["62.5", "%"]


def test_the_drawing_has_a_bar_for_each_recipe_on_each_gpu():
    found = compare("gemm", splits.RANDOM, [Spy("one").recipe, Spy("other").recipe], rows=parts())
    drawing = comparison_plot.of_comparison(found)
    assert drawing.count("<rect") == 1 + 2 + 2 * len(GPUS)
    assert all(f">{gpu}<" in drawing for gpu in GPUS)


def test_biased_rows_are_neither_fitted_to_nor_scored():
    spy, joined = Spy(), Rows.join(parts())
    biased = np.arange(len(joined)) % 4 == 0
    compare("gemm", splits.RANDOM, [spy.recipe], rows=[replace(joined, biased=biased)])
    never = identities(joined.take(biased))
    assert not never & (identities(spy.fitted[0]) | identities(spy.asked[0]))
