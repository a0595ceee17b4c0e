"""Measurements of one key: their median, and how far they lie apart."""

import numpy as np
import pytest

from synperf.measurements.merging import label, merged


def merge(m, time_s, is_test=False, biased=False):
    m = np.array(m)
    columns = [np.broadcast_to(np.array(column), m.shape) for column in (is_test, biased)]
    numbers = {"m": m, "n": np.full(len(m), 8), "k": np.full(len(m), 4), "batch": np.ones(len(m), dtype=np.int64)}
    return merged({name: name for name in label("gemm")}, numbers, np.array(time_s), *columns)


def test_three_measurements_are_their_median_and_half_their_range():
    rows = merge([1, 1, 1], [3.0, 1.0, 2.0])
    assert (rows.time_s.tolist(), rows.spread.tolist(), rows.samples.tolist()) == ([2.0], [0.5], [3])


def test_two_measurements_are_the_middle_between_them():
    rows = merge([1, 1], [1.0, 3.0])
    assert (rows.time_s.tolist(), rows.spread.tolist()) == ([2.0], [0.5])


def test_one_measurement_has_no_spread():
    rows = merge([2, 1], [3.0, 5.0])
    assert rows.column("m").tolist() == [1, 2]
    assert (rows.time_s.tolist(), rows.spread.tolist(), rows.samples.tolist()) == ([5.0, 3.0], [0.0, 0.0], [1, 1])


def test_rows_have_the_label_in_every_place():
    rows = merge([2, 1], [3.0, 5.0])
    assert [rows.column(name).tolist() for name in label("gemm")] == [[name, name] for name in label("gemm")]


def test_a_row_is_test_or_biased_when_one_of_its_measurements_is():
    rows = merge([1, 1, 2], [1.0, 2.0, 3.0], is_test=[False, True, False], biased=[True, False, False])
    assert (rows.is_test.tolist(), rows.biased.tolist()) == ([True, False], [True, False])


def test_the_median_is_that_of_numpy():
    rng = np.random.default_rng(1)
    m, time_s = rng.integers(1, 20, 500), rng.uniform(1, 2, 500)
    rows = merge(m, time_s)
    assert rows.time_s == pytest.approx([np.median(time_s[m == value]) for value in rows.column("m")])
