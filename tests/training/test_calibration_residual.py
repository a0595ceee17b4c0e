"""Residual parts: the file says what the regression says, whatever it consists of; bumps and peaks by hand."""

import numpy as np
import pytest

from synperf.estimators.calibrated import added, bumps, peaks
from synperf.training.calibration_residual import CANDIDATES, Parts, Standard, View, limits, residual_part, solve
from synperf.training.calibration_tuning import parts_of, seen

from .calibration_rows import H100, WEIGHTS, rows


def view_of(found):
    (part,) = parts_of(found, H100, WEIGHTS)
    what = seen([part], H100, len(found))
    return part, View.of(part.kind, part.network, found.engine, what.logs, what.hidden)


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda one: one.name)
def test_a_file_holds_the_regression_whatever_its_parts(candidate):
    part, view = view_of(rows(40))
    _, new = view_of(rows(30, seed=1))
    residual = np.random.default_rng(0).normal(0.1, 0.1, 40)
    standard = Standard.of(view)
    alpha = solve(Parts.of(standard, view, view).covariance(candidate), residual, candidate.noise)
    expected = np.clip(Parts.of(standard, new, view).covariance(candidate) @ alpha, *limits(residual))
    one = residual_part(candidate, view, residual, part)
    assert added(one, "vllm", part.network, new.scaled, new.hidden) == pytest.approx(expected, abs=1e-4)


def test_less_noise_follows_rows_closer():
    _, view = view_of(rows(40))
    residual = np.random.default_rng(0).normal(0.0, 0.1, 40)
    covariance = Parts.of(Standard.of(view), view, view).covariance(CANDIDATES[0])
    first, second = (np.abs(covariance @ solve(covariance, residual, noise)).max() for noise in (0.01, 1.0))
    assert second < first


def test_a_bump_falls_with_the_square_of_the_distance_and_a_peak_with_its_sum():
    at, point = np.array([[0.0, 0.0], [0.3, 0.4]]), np.zeros((1, 2))
    assert bumps(at, point, 0.5)[:, 0] == pytest.approx([1.0, np.exp(-0.5)])
    assert peaks(at, point, 0.35)[:, 0] == pytest.approx([1.0, np.exp(-2.0)])


def test_peaks_of_many_rows_are_those_of_each():
    draw = np.random.default_rng(0)
    at, points = draw.random((200, 3)), draw.random((7, 3))
    one_by_one = np.concatenate([peaks(at[i : i + 1], points, 0.4) for i in range(200)])
    assert peaks(at, points, 0.4) == pytest.approx(one_by_one, rel=1e-12)
