"""A general network within an evaluation answers, and is corrected, as shipped weights are."""

import numpy as np
import pytest

from synperf import hardware
from synperf.errors import FieldError, UnsupportedError
from synperf.estimators import learned
from synperf.estimators.weights import GENERAL
from synperf.evaluation import general as evaluation_of_general
from synperf.evaluation.general import General, _card, _weights, correctable, kept
from synperf.evaluation.results import PLAIN, few_shot
from synperf.evaluation.runs import run
from synperf.evaluation.splits import UNSEEN_GPU, Case
from synperf.kernels import family
from synperf.measurements import Rows
from synperf.training.recipe import Recipe

from ..estimators.toy_weights import GENERAL_GROUPS, network
from .toy_pools import EXTENTS, Spy, rows

DEVICES = {key: hardware.gpu(key) for key in ("l40s", "a100_sxm")}


@pytest.fixture
def general():
    net = network(GENERAL_GROUPS)
    return General(_weights("gemm", 42, [_card("bf16", net, 100, {})], [net]))


def test_it_is_the_learned_estimate_of_its_weights(general):
    part = rows("l40s")
    expected = learned.estimate(family("gemm"), part.call(), DEVICES["l40s"], general.weights).time_s
    assert (general(part, DEVICES) == expected).all()
    assert [card.scope for card in general.weights.card.networks] == [GENERAL]


def test_rows_that_no_network_answers_for_are_told_as_a_matter_of_the_recipe(general):
    part = rows("l40s")
    part.engine[:] = part.kernel[:] = "plain"
    with pytest.raises(
        UnsupportedError, match=r"^recipe: general has no answer for plain\.plain in bf16 on l40s \(no w"
    ):
        general(part, DEVICES)


def test_rows_of_a_gpu_correct_it_towards_what_they_measured(general):
    extents = [(m, n, k) for m, n, k in EXTENTS if n * k > 1e6]
    part = rows("l40s", extents=extents)
    part = part.take(~part.is_test)
    part.time_s[:] = 1.5 * general(part, DEVICES)
    better = correctable(general).corrected(part, DEVICES, 0)
    before, after = (
        np.abs(found / part.time_s - 1).mean() for found in (general(part, DEVICES), better(part, DEVICES))
    )
    assert before == pytest.approx(1 / 3)
    assert after < before / 2


def test_a_gpu_of_too_few_rows_stays_as_it_was_and_says_why(general):
    few, many = rows("l40s", extents=EXTENTS[:10]), rows("a100_sxm")
    found = correctable(general).corrected(Rows.join([few, many.take(~many.is_test)]), DEVICES, 0)
    assert (found(few, DEVICES) == general(few, DEVICES)).all()
    assert "right would be 16 or more" in kept(found)["l40s"]
    assert set(found.fits) == {"a100_sxm"}
    assert not kept(general)


def test_rows_that_say_what_no_gpu_can_be_do_not_stop_an_evaluation(general, monkeypatch):
    def refused(*_):
        raise FieldError("rows: they say that NVIDIA L40S sustains 136% of its published DRAM bandwidth")

    monkeypatch.setattr(evaluation_of_general, "fit_calibration", refused)
    part = rows("l40s", factor=3.0)
    case = Case(
        name="l40s", rows=part, train=~part.is_test, parts={"unseen": np.ones(len(part), dtype=bool)}, devices=DEVICES
    )
    recipe = Recipe(name="general", summary="", fit=lambda *_: general)
    found = {(r.variant, r.gpu): r for r in run(UNSEEN_GPU, case, recipe, 0)}
    assert found[few_shot(16), "l40s"].errors == found[PLAIN, "l40s"].errors
    assert "136% of its published DRAM" in found[few_shot(16), "l40s"].kept
    assert not found[PLAIN, "l40s"].kept


def test_a_predictor_that_rows_do_not_correct_is_none():
    assert correctable(Spy().predict) is None
