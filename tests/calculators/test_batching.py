"""Batching: throughput without counting utilisation twice, latency, the best size."""

import pytest

from synperf import FieldError
from synperf.calculators.batching import batching

SIZES = [(1, 0.01), (8, 0.02), (32, 0.05)]


def test_a_measured_batch_is_not_multiplied_by_utilisation_again():
    (one,) = batching([(32, 0.05)], busy=0.7).batches
    assert one.throughput_per_s == pytest.approx(640)
    assert one.rate_per_s == pytest.approx(448)


def test_latency_is_forming_queueing_and_the_batch():
    one = batching(SIZES, arrivals_per_s=300).batches[1]
    assert one.busy == pytest.approx(0.75)
    assert one.rate_per_s == pytest.approx(300)
    assert one.forming_s == pytest.approx(7 / 600)
    assert one.queue_s == pytest.approx(0.75 / 0.25 / 8 / 2 * 0.02)
    assert one.latency_s == pytest.approx(one.forming_s + one.queue_s + 0.02)


def test_the_best_has_most_throughput_within_the_limit():
    assert batching(SIZES, arrivals_per_s=300, latency_limit_s=0.1).best.batch == 8
    assert batching(SIZES, arrivals_per_s=300).best.batch == 32
    assert batching(SIZES, latency_limit_s=0.02).best.batch == 8


def test_more_than_can_be_served_has_no_latency():
    found = batching(SIZES, arrivals_per_s=1000)
    assert found.best is None
    assert [one.latency_s for one in found.batches] == [None] * 3
    assert all(one.overloaded for one in found.batches)
    assert found.advice == ("no size serves all that arrives; the most is 640/s with 32: more GPUs",)


@pytest.mark.parametrize(
    ("sizes", "how", "said"),
    [
        ([], {}, "batches must be at least one"),
        ([(0, 1)], {}, "batch"),
        ([(1, 0)], {}, "batch_s of 1"),
        ([(1, 1), (1, 2)], {}, "one size is given twice"),
        (SIZES, {"busy": 1.5}, "busy"),
        (SIZES, {"arrivals_per_s": 0}, "arrivals_per_s"),
        (SIZES, {"latency_limit_s": float("inf")}, "latency_limit_s"),
    ],
)
def test_bad_input_is_named(sizes, how, said):
    with pytest.raises(FieldError, match=said):
        batching(sizes, **how)
