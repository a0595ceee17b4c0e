"""A general network within an evaluation answers, and is corrected, as shipped weights are."""

import numpy as np
import pytest

from synperf import hardware
from synperf.estimators import learned
from synperf.estimators.weights import GENERAL
from synperf.evaluation.general import General, _card, _weights, correctable
from synperf.kernels import family

from ..estimators.toy_weights import GENERAL_GROUPS, network
from .toy_pools import EXTENTS, Spy, rows

DEVICES = {key: hardware.gpu(key) for key in ("l40s", "a100_sxm")}


@pytest.fixture
def general():
    net = network(GENERAL_GROUPS)
    return General(_weights("gemm", 42, [_card("bf16", net, 100)], [net]))


def test_it_is_the_learned_estimate_of_its_weights(general):
    part = rows("l40s")
    expected = learned.estimate(family("gemm"), part.call(), DEVICES["l40s"], general.weights).time_s
    assert (general(part, DEVICES) == expected).all()
    assert [card.scope for card in general.weights.card.networks] == [GENERAL]


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


def test_a_predictor_that_rows_do_not_correct_is_none():
    assert correctable(Spy().predict) is None
