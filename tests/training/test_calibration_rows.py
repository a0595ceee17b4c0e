"""Rows that cannot be, or are far from all others, do not spoil a calibration, and are named."""

from dataclasses import replace

import numpy as np
import pytest

from synperf.errors import FieldError
from synperf.estimators.calibration_file import read
from synperf.measurements import Rows
from synperf.training.calibrate import fit_calibration, save
from synperf.training.calibration_rows import MOST_ROWS, usable

from .calibration_rows import H100, WEIGHTS, blank, error, rows


def slower(_):
    return 1.4


def spoiled(found, *factors):
    """The rows with the first ones measured so many times as long."""
    time_s = found.time_s.copy()
    time_s[: len(factors)] *= factors
    return replace(found, time_s=time_s)


@pytest.mark.parametrize("size", [30, 200])
@pytest.mark.parametrize("factors", [(1e-3, 1e3), (1e3, 1e3), (1e-3,), (0.1, 20.0)])
def test_rows_off_by_a_wrong_unit_leave_the_calibration_as_it_was(size, factors):
    good, new = rows(size, factor=slower, noise=0.02), rows(200, seed=1, factor=slower)
    before, after = (fit_calibration(found, H100, WEIGHTS) for found in (good, spoiled(good, *factors)))
    assert len(after.file.set_aside) == len(factors)
    assert error(after.predict(new), before.predict(new)) < 0.03
    assert error(after.predict(new), new.time_s) < 0.06


def test_one_impossible_row_does_not_touch_the_rates_that_rows_reach():
    shapes = np.array([(n, n, k) for n in (4096, 8192) for k in (4096, 8192, 16384, 32768)] * 2).T
    found = rows(60, noise=0.02)
    large = blank(*shapes)
    large = replace(large, time_s=2 * 2 * shapes.prod(axis=0) / H100.peak_flop_per_s(found.call().dtype))
    good = Rows.join([found, large])
    before, after = (
        fit_calibration(x, H100, WEIGHTS).file.hardware for x in (good, spoiled(good.take(_last(16, 76)), 1e-3))
    )
    assert after.clock_share == pytest.approx(before.clock_share, rel=0.05)


def _last(count, size):
    """Indices that begin with the last ones."""
    return np.roll(np.arange(size), count)


def test_a_row_below_its_bound_is_named_with_the_bound(tmp_path):
    found = fit_calibration(spoiled(rows(40), 1e-6), H100, WEIGHTS)
    (one,) = found.file.set_aside
    assert one.call.startswith("vllm cublas m=")
    assert one.why.startswith("below its physical bound, ")
    assert found.file.rows == 39
    save(found, tmp_path / "h100.json")
    assert read(tmp_path / "h100.json").set_aside == found.file.set_aside


def test_a_kernel_that_is_far_from_its_estimate_as_a_whole_is_kept():
    assert usable(rows(40, factor=lambda _: 8.0), H100, WEIGHTS, 0).set_aside == ()


def test_rows_that_are_mostly_below_the_bound_are_refused_in_one_sentence():
    found = spoiled(rows(40), *[1e-6] * 30)
    with pytest.raises(
        FieldError, match=r"^rows: 30 of 40 take less than H100 SXM can, such as vllm .* right would be"
    ):
        fit_calibration(found, H100, WEIGHTS)


def test_rows_that_are_all_biased_are_refused_in_one_sentence():
    found = replace(rows(40), biased=np.ones(40, dtype=bool))
    with pytest.raises(FieldError, match=r"^rows: 40 of 40 are biased, .* so none can be fitted to; right would be 16"):
        fit_calibration(found, H100, WEIGHTS)
    left = replace(rows(40), biased=np.arange(40) < 25, is_test=np.arange(40) >= 25)
    with pytest.raises(FieldError, match=r"^rows: 25 of 40 are biased, .*, the other 15 for tests, so none"):
        fit_calibration(left, H100, WEIGHTS)


def test_too_few_rows_are_refused_with_what_became_of_the_others():
    found = replace(rows(40), biased=np.arange(40) < 20, is_test=np.arange(40) >= 35)
    with pytest.raises(FieldError, match=r"^rows: 15 \(and 20 biased and 5 for tests\); right would be 16 or more"):
        fit_calibration(found, H100, WEIGHTS)
    with pytest.raises(FieldError, match=r"^rows: 14 \(and 2 impossible or wild\); right would be 16 or more"):
        fit_calibration(spoiled(rows(16), 1e-6, 1e4), H100, WEIGHTS)


def test_of_no_rows_nothing_can_be_calibrated():
    with pytest.raises(FieldError, match=r"^rows: there are none"):
        fit_calibration(rows(20).take(slice(0, 0)), H100, WEIGHTS)


def test_of_very_many_rows_of_each_kernel_some_are_drawn():
    few = rows(30, seed=1)
    other = replace(few, fields={**few.fields, "dtype": np.full(30, "fp32", dtype=object)}, time_s=20 * few.time_s)
    dtype = usable(Rows.join([rows(1100), other]), H100, WEIGHTS, 0).rows.fields["dtype"]
    assert ((dtype == "bf16").sum(), (dtype == "fp32").sum()) == (MOST_ROWS, 30)
