"""Coverage by regime, on intervals whose coverage is known."""

import numpy as np
import pytest

from synperf.evaluation.predictions import Predictions
from synperf.evaluation.regimes import LEAST_ROWS, regimes


def predictions(time_s, inside, is_test):
    """Estimates of `time_s`, of whose measured times those of the mask `inside` are held by the interval."""
    time_s = np.asarray(time_s, dtype=np.float64)
    return Predictions(
        measured_s=np.where(inside, time_s, 3 * time_s),
        time_s=time_s,
        low_s=time_s / 2,
        high_s=time_s * 2,
        floor_s=time_s / 10,
        roofline_s=time_s / 5,
        is_test=np.broadcast_to(is_test, len(time_s)),
        shape=np.arange(len(time_s)) % 7,
    )


def found(p):
    return list(regimes(p, "l40s", "vllm", "cublas", "bf16"))


def test_bands_are_of_the_estimate_and_their_ends_belong_to_them():
    time_s = np.repeat([5e-6, 10e-6, 11e-6, 1e-3], LEAST_ROWS)
    held = np.repeat([True, False, True, True], LEAST_ROWS)
    shown = [(r.band, r.rows, r.coverage) for r in found(predictions(time_s, held, False))]
    assert shown == [("up to 10 us", 2000, 0.5), ("up to 100 us", 1000, 1.0), ("above 100 us", 1000, 1.0)]


def test_a_regime_says_of_how_many_shapes_it_is():
    assert [r.shapes for r in found(predictions(np.full(LEAST_ROWS, 1e-6), True, False))] == [7]


def test_few_rows_are_no_regime():
    assert found(predictions(np.full(LEAST_ROWS - 1, 1e-6), True, True)) == []


def test_test_rows_are_regimes_of_their_own():
    size = 2 * LEAST_ROWS
    is_test = np.arange(size) % 2 == 0
    shown = [(r.split, r.rows, r.coverage) for r in found(predictions(np.full(size, 1e-6), is_test, is_test))]
    assert shown == [("all", 2000, 0.5), ("test", 1000, 1.0)]


@pytest.mark.parametrize(("share", "is_as_meant"), [(0.76, False), (0.77, True), (0.83, True), (0.84, False)])
def test_an_interval_is_as_meant_from_77_to_83_percent(share, is_as_meant):
    (one,) = found(predictions(np.full(LEAST_ROWS, 1e-6), np.arange(LEAST_ROWS) < share * LEAST_ROWS, False))
    assert one.is_as_meant is is_as_meant
    assert one.name == "vllm.cublas.bf16 on l40s, up to 10 us"
