"""Calibration: what is planted in rows comes out, what is not there is not found, and nothing gets worse."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from synperf.errors import FieldError, PerfError
from synperf.estimators import calibrated
from synperf.estimators.calibration_file import read, render
from synperf.kernels import family
from synperf.measurements import Rows
from synperf.training.calibrate import check_shares, fit_calibration, save
from synperf.training.calibration_choice import folds
from synperf.training.calibration_intervals import regimes

from .calibration_rows import H100, WEIGHTS, blank, error, learned_s, rows

KEY = "vllm.cublas.bf16"


def fit(found, seed=0, gpu=H100):
    return fit_calibration(found, gpu, WEIGHTS, seed)


def by_m(rows):
    """Ten per cent slower for every doubling of m beyond 64."""
    return np.exp(0.1 * np.log2(rows.fields["m"] / 64))


def test_rows_that_the_estimate_has_right_change_nothing():
    found = fit(rows())
    assert found.file.kernels[KEY].method == "zero-shot"
    assert found.file.residuals == {}
    assert found.predict(rows(seed=1)) == pytest.approx(learned_s(rows(seed=1)), rel=1e-12)


@pytest.mark.parametrize("size", [20, 50, 100, 200, 500])
def test_noise_alone_never_makes_new_rows_worse(size):
    new = rows(500, seed=99, noise=0.1)
    before = error(learned_s(new), new.time_s)
    for seed in range(2):
        found = fit(rows(size, seed=seed, noise=0.1), seed)
        assert error(found.predict(new), new.time_s) <= before + 0.003


def test_a_planted_factor_is_found_from_twenty_rows():
    new = rows(seed=1, factor=lambda _: 1.4)
    found = fit(rows(20, factor=lambda _: 1.4, noise=0.02))
    assert error(learned_s(new), new.time_s) > 0.25
    assert error(found.predict(new), new.time_s) < 0.05


def test_a_planted_trend_is_found_and_more_rows_find_it_better():
    new = rows(300, seed=1, factor=by_m)
    few, many = (error(fit(rows(n, factor=by_m, noise=0.05)).predict(new), new.time_s) for n in (30, 300))
    assert error(learned_s(new), new.time_s) > 0.25
    assert few < 0.12
    assert many < 0.05


def test_errors_before_and_after_are_those_of_rows_that_were_left_out():
    new = rows(500, seed=1, factor=by_m, noise=0.1)
    found = fit(rows(200, factor=by_m, noise=0.1))
    kernel = found.file.kernels[KEY]
    assert kernel.rows == 200
    assert kernel.before == pytest.approx(error(learned_s(new), new.time_s), rel=0.15)
    assert kernel.after == pytest.approx(error(found.predict(new), new.time_s), rel=0.2)


def test_the_rates_of_the_gpu_are_found_through_the_network():
    slow = replace(H100, calibration=replace(H100.calibration, clock_share=0.5))
    found = fit(rows(60, gpu=slow, noise=0.01))
    new = rows(seed=1, gpu=slow)
    assert found.file.hardware.clock_share == pytest.approx(0.5, rel=0.1)
    assert found.file.hardware.said["how"].startswith("tuned: ")
    assert error(found.predict(new), new.time_s) < 0.05


def test_engines_of_one_kernel_differ():
    vllm, other = (
        [rows(60, seed + s, engine, lambda _, f=f: f, 0.03) for s in (0, 10)]
        for seed, engine, f in ((0, "vllm", 1.3), (1, "sglang", 0.8))
    )
    found = fit(Rows.join([vllm[0], other[0]]))
    assert error(found.predict(vllm[1]), vllm[1].time_s) < 0.1
    assert error(found.predict(other[1]), other[1].time_s) < 0.1
    assert set(found.file.kernels) == {KEY, "sglang.cublas.bf16"}


def test_a_reason_that_is_of_several_engines_says_so_and_one_of_a_single_engine_does_not():
    one = rows(30, factor=lambda _: 1.3, noise=0.03)
    together = fit(Rows.join([one, rows(30, 1, "sglang", lambda _: 0.8, 0.03)])).file.kernels
    assert all(kernel.why.endswith(" (of all engines together: sglang, vllm)") for kernel in together.values())
    assert "together" not in fit(one).file.kernels[KEY].why


def test_a_kernel_with_few_rows_keeps_the_learned_estimate_and_says_so():
    found = fit(rows(18, factor=lambda _: 1.01, noise=0.01))
    assert found.file.residuals == {}
    assert found.file.kernels[KEY].why == "no residual part: needs 20 rows, has 18"


def test_rows_of_few_weight_shapes_are_not_trusted():
    draw = np.random.default_rng(0)
    m = draw.choice(8192, 60) + 1
    found = blank(m, np.where(m % 2, 512, 1024), np.full(60, 1024))
    kept = fit(replace(found, time_s=1.5 * learned_s(found)))
    assert kept.file.kernels[KEY].method == "zero-shot"
    assert kept.file.kernels[KEY].why == "no residual part: rows of fewer than 4 shapes n x k"


def test_whole_weight_shapes_are_left_out():
    found = rows(300)
    turn = folds(found, 0)
    of_shape = {}
    for n, k, t in zip(found.fields["n"], found.fields["k"], turn, strict=True):
        of_shape.setdefault((n, k), set()).add(t)
    assert set(turn.tolist()) == set(range(5))
    assert all(len(turns) == 1 for turns in of_shape.values())


def test_rows_of_a_test_split_and_biased_ones_are_not_seen():
    good = rows(40)
    spoiled = replace(rows(40, seed=1, factor=lambda _: 5.0), is_test=np.ones(40, dtype=bool))
    biased = replace(rows(40, seed=2, factor=lambda _: 5.0), biased=np.ones(40, dtype=bool))
    assert render(fit(Rows.join([good, spoiled, biased])).file) == render(fit(good).file)


def test_a_seed_gives_the_same_file_again():
    found = rows(60, factor=by_m, noise=0.1)
    assert render(fit(found, 3).file) == render(fit(found, 3).file)


def test_of_very_many_rows_some_are_drawn():
    assert fit(rows(1200)).file.rows == 1000


def test_fifteen_rows_are_too_few():
    with pytest.raises(FieldError, match=r"^rows: 15; right would be 16 or more"):
        fit(rows(15))


def test_rows_of_another_gpu_are_refused():
    with pytest.raises(FieldError, match=r"^gpu: the rows are of l40s, not of h100_sxm; right would be --gpu l40s"):
        fit(replace(rows(20), gpu=np.full(20, "l40s", dtype=object)))


def test_of_rows_of_several_gpus_those_of_the_gpu_are_taken():
    own, others = rows(40, factor=by_m), np.repeat(["a100_sxm", "l40s"], 20).astype(object)
    other = replace(rows(40, seed=1), gpu=others)
    assert render(fit(Rows.join([other, own])).file) == render(fit(own).file)
    with pytest.raises(FieldError, match=r"are of a100_sxm, l40s, not of h100_sxm; right would be --gpu with one of"):
        fit(other)
    with pytest.raises(FieldError, match=r"^rows: 40 of 40 are biased"):
        fit(Rows.join([other, replace(own, biased=np.ones(40, dtype=bool))]))


def test_intervals_hold_eighty_per_cent_of_new_rows():
    found, new = fit(rows(200, factor=by_m, noise=0.15)), rows(1000, seed=1, factor=by_m, noise=0.15)
    one = calibrated.estimate(family("gemm"), new.call(), H100, found.file, WEIGHTS)
    assert 0.75 <= ((one.low_s <= new.time_s) & (new.time_s <= one.high_s)).mean() <= 0.92


def test_few_rows_have_wide_intervals():
    draw = np.random.default_rng(0).normal(0, 0.1, 500)
    few, many = (regimes(np.exp(draw[:n]), np.ones(n), "x")[0] for n in (20, 500))
    assert few.low < many.low < -0.1 * 1.28 * 0.9


def test_short_and_long_calls_have_intervals_of_their_own():
    held_out = np.repeat([1e-6, 50e-6, 1e-3], 40)
    ratio = np.exp(np.tile(np.linspace(-1, 1, 40), 3) * np.repeat([0.3, 0.2, 0.1], 40))
    short, middle, long = regimes(held_out * ratio, held_out, "x")
    assert (short.up_to_s, middle.up_to_s) == (10e-6, 100e-6)
    assert short.low < middle.low < long.low < 0 < long.high < middle.high < short.high


def test_without_weights_the_launch_floor_is_all_there_is():
    found = blank(np.arange(1, 31), np.full(30, 64), np.full(30, 64), dtype="fp16", engine="torch")
    fitted = fit_calibration(
        replace(found, time_s=np.full(30, 9e-6)), H100, replace(WEIGHTS, networks=(), card=_empty())
    )
    assert fitted.file.hardware.launch_floor_s["cublas.fp16"] == pytest.approx(9e-6, rel=0.05)
    kernel = fitted.file.kernels["torch.cublas.fp16"]
    assert kernel.method == "launch floor"
    assert kernel.after < 0.05 < kernel.before
    assert fitted.predict(found) == pytest.approx(9e-6, rel=0.05)


def _empty():

    return msgspec.structs.replace(WEIGHTS.card, networks=())


def test_a_file_gives_the_same_answers(tmp_path):
    found = fit(rows(60, factor=by_m, noise=0.05))
    save(found, tmp_path / "h100.json")
    assert read(tmp_path / "h100.json", "h100_sxm") == found.file
    assert [path.name for path in tmp_path.iterdir()] == ["h100.json"]


def test_what_cannot_be_written_leaves_nothing(tmp_path):
    found = fit(rows(20))
    with pytest.raises(PerfError, match=r"^out: "):
        save(found, tmp_path / "none" / "h100.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("shares", [{"dram_share": 0.1}, {"clock_share": 1.6}])
def test_rates_that_no_gpu_of_that_kind_can_have_are_refused(shares):
    check_shares(H100)
    with pytest.raises(FieldError, match=r"rows: they say that H100 SXM sustains .* of its published"):
        check_shares(replace(H100, calibration=replace(H100.calibration, **shares)))
