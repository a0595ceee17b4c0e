"""Evaluation of serving points: splits, ways to predict, and what a report says."""

import json

import numpy as np
import pytest

from synperf.errors import FieldError, UnknownNameError
from synperf.evaluation.e2e import baselines, silicon
from synperf.evaluation.e2e.cases import (
    CONCURRENCY_OUT,
    FAMILY_OUT,
    GPU_OUT,
    KNOWN,
    LENGTH_OUT,
    SPLITS,
    anchors,
    cases,
)
from synperf.report import point_scores
from synperf.report.jsonout import to_json

from ...serving.fitting.points import FAMILIES, served

SCALES = {"one": 1.5, "two": 0.9}
EVERY = served(96, SCALES)


def report(split: str, gpus: tuple[str, ...] = ()) -> silicon.PointReport:
    return silicon.report(split, EVERY, EVERY, {"seats": 3}, gpus)


@pytest.mark.parametrize("split", SPLITS)
def test_no_point_is_fitted_to_and_scored(split):
    for case in cases(split, EVERY):
        assert case.fit.any()
        assert case.test.any()
        assert not (case.fit & case.test).any()


def test_hold_outs_leave_out_what_they_say():
    assert [case.name for case in cases(FAMILY_OUT, EVERY)] == sorted(FAMILIES)
    assert [case.name for case in cases(GPU_OUT, EVERY)] == ["b200_sxm", "h100_sxm"]
    few = next(cases(CONCURRENCY_OUT, EVERY))
    assert EVERY.points.concurrency[few.fit].max() <= 32 < 128 <= EVERY.points.concurrency[few.test].min()
    short = next(cases(LENGTH_OUT, EVERY))
    assert EVERY.points.isl[short.fit].max() <= 2048 < 8000 <= EVERY.points.isl[short.test].min()


def test_anchors_are_so_many_points_of_each_recipe_of_what_is_left_out():
    out = EVERY.points.family == "one"
    known = anchors(EVERY.labels, out, 1)
    assert known.sum() == 2  # one on each GPU
    assert (out | ~known).all()


def test_every_way_is_scored_on_the_same_points():
    found = report(KNOWN)
    ways = {one.group: one for one in found.scores}
    assert set(ways) == {silicon.OURS, silicon.FACTORS, silicon.KERNELS, silicon.ROOFLINE, silicon.LINEAR}
    assert {one.points for one in found.scores} == {48}
    assert ways[silicon.OURS].tpot.errors.median < 0.05
    assert ways[silicon.OURS].tpot.errors.median < ways[silicon.KERNELS].tpot.errors.median
    assert (found.answered, found.predictable) == (48, 48)
    assert {"gpu", "engine", "family", "source", "concurrency", "case"} == set(found.by)
    assert found.peers


def test_a_gpu_that_is_left_out_has_wave_scaling_and_anchors_beside_ours():
    ways = {one.group: one for one in report(GPU_OUT).scores}
    assert {silicon.SCALED, "synperf, 1 point of each recipe", "synperf, 3 points of each recipe"} <= set(ways)


def test_one_gpu_alone_can_be_scored_and_one_that_nobody_measured_is_refused():
    assert [one.group for one in report(KNOWN, ("h100_sxm",)).by["gpu"]] == ["h100_sxm"]
    with pytest.raises(FieldError, match="no measured serving points of l40s"):
        report(KNOWN, ("l40s",))


def test_an_unknown_split_is_refused():
    with pytest.raises(UnknownNameError, match="no split of serving points named 'known'"):
        cases("known", EVERY)


def test_points_that_wait_for_room_are_counted_and_scored_apart():
    waiting = served(96, SCALES)
    waiting.simulated.limited[:4] = True
    found = silicon.report(KNOWN, waiting, waiting, {})
    assert found.set_aside == {silicon.LIMITED: 4}
    assert found.limited is not None
    assert found.limited.points == 2  # of the test half
    assert found.predictable == 46


def test_wave_scaling_takes_the_nearest_point_by_bandwidth_and_math():
    one, other = EVERY.take(EVERY.points.gpu == "h100_sxm"), EVERY.take(EVERY.points.gpu == "b200_sxm")
    _, tpot = baselines.scaled(one, other)
    assert np.isfinite(tpot).all()
    ratio = tpot[0] / one.points.tpot_s
    assert np.isclose(ratio, 3.35e12 / 8e12, rtol=0.1).any()


def test_the_report_is_text_and_json():
    found = report(KNOWN)
    text = point_scores.to_text(found)
    assert "serving points, configurations that nothing was fitted to" in text
    assert "answered 48 of 48 predictable points" in text
    assert "3: seats: fewer requests run at once" in text
    assert "aiconfigurator's own estimates" in text
    assert json.loads(to_json(found))["split"] == KNOWN
