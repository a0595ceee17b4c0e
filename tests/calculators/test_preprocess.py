"""Preprocessing: how many workers feed a GPU."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf import FieldError
from synperf.calculators.preprocess import Stage, preprocess


def decode(latency_s, workers=1):
    return Stage(name="decode", latency_s=latency_s, workers=workers)


@pytest.mark.parametrize(("latency_s", "needed"), [(0.008, 8), (0.010, 10), (0.005, 5), (0.0005, 1), (0.001, 1)])
def test_workers_that_feed_a_thousand_images_a_second(latency_s, needed):
    (stage,) = preprocess([decode(latency_s)], rate_per_s=1000).stages
    assert stage.workers_needed == needed
    assert preprocess([decode(latency_s, needed)], rate_per_s=1000).gpu_busy == pytest.approx(1)


def test_the_slowest_stage_bounds_and_one_after_another_is_slower():
    found = preprocess([decode(0.008, 4), Stage(name="resize", latency_s=0.001, workers=4)], rate_per_s=1000)
    assert (found.items_per_s, found.bottleneck, found.gpu_busy) == (500, "decode", 0.5)
    assert found.serial_items_per_s == pytest.approx(1 / (0.002 + 0.00025 + 0.001))


def test_kept_results_make_stages_shorter():
    found = preprocess([decode(0.008, 4)], rate_per_s=1000, cache_hits=0.5)
    assert found.stages[0].effective_s == pytest.approx(0.004)
    assert found.bottleneck == "gpu"


@given(st.floats(1e-4, 1e-1), st.floats(1, 1e5))
def test_the_workers_that_are_told_do_and_one_fewer_does_not(latency_s, rate):
    (stage,) = preprocess([decode(latency_s)], rate_per_s=rate).stages
    needed = stage.workers_needed
    assert needed / latency_s >= rate * (1 - 1e-6)
    assert needed == 1 or (needed - 1) / latency_s < rate


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"stages": [], "rate_per_s": 1}, "stages must be at least one"),
        ({"stages": [decode(1), decode(2)], "rate_per_s": 1}, "two have the same name"),
        ({"stages": [decode(0)], "rate_per_s": 1}, "latency_s of decode must be above 0"),
        ({"stages": [decode(1, 0)], "rate_per_s": 1}, "workers of decode"),
        ({"stages": [decode(1)], "rate_per_s": float("nan")}, "rate_per_s"),
        ({"stages": [decode(1)], "rate_per_s": 1, "cache_hits": 1}, "cache_hits must be from 0 to less than 1, got 1"),
    ],
)
def test_bad_input_is_named(how, said):
    with pytest.raises(FieldError, match=said):
        preprocess(**how)
