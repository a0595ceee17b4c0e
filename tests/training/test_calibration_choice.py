"""Which candidate a calibration takes: the best of those that are surely better than none."""

import numpy as np

from synperf.training.calibration_choice import best_of

BEFORE = np.full(20, 0.30)
SURE = np.tile([0.19, 0.21], 10)  # a third less on every row
SURER = np.tile([0.14, 0.16], 10)
BY_CHANCE = np.where(np.arange(20) < 16, 0.0, 0.95)  # less in the mean, and much more on a few rows
BY_FEW = np.where(np.arange(20) < 3, 0.0, 0.32)


def test_of_candidates_that_are_surely_better_the_one_of_least_error_is_taken():
    assert best_of(BEFORE, np.array([SURE, SURER])) == (1, "held-out error 30 % to 15 %")


def test_a_candidate_of_less_error_that_is_no_surer_than_chance_does_not_stand_in_the_way_of_a_sure_one():
    assert BY_CHANCE.mean() < SURE.mean() < BEFORE.mean()
    assert best_of(BEFORE, np.array([BY_CHANCE, SURE])) == (1, "held-out error 30 % to 20 %")


def test_where_none_is_surely_better_none_is_taken_and_the_best_says_why():
    found, why = best_of(BEFORE, np.array([np.full(20, 0.31), BY_FEW]))
    assert found is None
    assert why == "held-out error 30 % to 27.2 %, no surer than chance"
