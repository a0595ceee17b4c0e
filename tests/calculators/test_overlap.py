"""Overlap of communication and computation, worked out by hand."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf.calculators.overlap import overlap, timeline
from tests.cli.runner import assert_refused, invoke


def test_what_is_not_hidden_is_added():
    found = overlap(compute_s=100, comm_s=60, overlap_s=40)
    assert (found.step_s, found.exposed_s, found.hidden_s) == (120, 20, 40)
    assert found.scaling_efficiency == pytest.approx(0.833, abs=5e-4)
    assert found.advice == ("hide all 60 s: the step takes 100 s",)


def test_the_command_takes_the_plain_numbers():
    seen = invoke("overlap", "--compute-s", "100", "--comm-s", "60", "--overlap-s", "40", "--json")
    found = json.loads(seen.out)
    assert (found["step_s"], found["exposed_s"]) == (120, 20)
    assert found["scaling_efficiency"] == pytest.approx(100 / 120)


def test_more_overlap_than_communication_exposes_nothing():
    found = overlap(compute_s=100, comm_s=60, overlap_s=80)
    assert (found.step_s, found.scaling_efficiency) == (100, 1)
    assert found.advice == ("nothing is exposed: shorter communication brings nothing",)


def test_a_bucket_waits_for_its_gradients_and_for_the_one_before():
    found = overlap(compute_s=10, ready_s=(4, 5, 10), bucket_comm_s=(3, 1, 2))
    assert [(one.start_s, one.end_s) for one in found.buckets] == [(4, 7), (7, 8), (10, 12)]
    assert (found.step_s, found.exposed_s, found.comm_s) == (12, 2, 6)
    assert found.advice == ("send the last bucket in two halves, the first once it is ready: the step takes 11 s",)


def test_one_bucket_hides_nothing_and_more_hide_more():
    steps = [overlap(compute_s=150, comm_s=60, buckets=n, backward_s=100).step_s for n in (1, 2, 4, 8)]
    assert steps == [210, 180, 165, 157.5]


def test_latency_limits_the_number_of_buckets_and_the_advice_is_no_worse():
    given = {"compute_s": 150, "comm_s": 60, "backward_s": 100, "latency_s": 2}
    many = overlap(buckets=512, **given)
    best = int(many.advice[-1].split()[0])
    assert many.advice[-1].endswith("the best of all numbers tried")
    assert overlap(buckets=best, **given).step_s < many.step_s
    assert overlap(buckets=best, **given).step_s <= min(
        overlap(buckets=2**power, **given).step_s for power in range(10)
    )


@given(st.lists(st.tuples(st.floats(0, 1e3), st.floats(1e-3, 1e3)), min_size=1, max_size=30))
def test_buckets_never_run_at_once_and_none_before_it_is_ready(pairs):
    ready = sorted(pair[0] for pair in pairs)
    found = timeline(ready, [pair[1] for pair in pairs])
    for before, after in pairwise(found):
        assert after.start_s >= before.end_s
        assert after.start_s in (after.ready_s, before.end_s)
    assert all(one.start_s >= one.ready_s for one in found)
    longest = max(ready[at] + sum(pair[1] for pair in pairs[at:]) for at in range(len(pairs)))
    assert found[-1].end_s == pytest.approx(longest)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--compute-s 0 --comm-s 1 --overlap-s 1", "compute_s must be above 0"),
        ("--compute-s 1 --comm-s -1 --overlap-s 1", "comm_s must be 0 or above"),
        ("--compute-s 1 --overlap-s 1", "comm_s: none given"),
        ("--compute-s 1 --comm-s 1", "overlap_s: none given"),
        ("--compute-s 1 --comm-s 1 --overlap-s 2", "overlap_s must be up to compute_s, 1, got 2"),
        ("--compute-s nan --comm-s 1 --overlap-s 1", "compute_s: 'nan' is not a number"),
        ("--compute-s 1GB --comm-s 1 --overlap-s 1", "compute_s: '1GB' is in B"),
        ("--compute-s 1 --comm-s 1 --buckets 0 --backward-s 1", "buckets must be a whole number from 1 to 1024, got 0"),
        ("--compute-s 1 --comm-s 1 --buckets 4", "backward_s: none given"),
        ("--compute-s 1 --comm-s 1 --buckets 4 --backward-s 2", "backward_s must be up to compute_s"),
        ("--compute-s 9 --ready-s 1,2 --bucket-comm-s 1", "bucket_comm_s has 1 values, but ready_s has 2"),
        ("--compute-s 9 --ready-s 1,2", "bucket_comm_s: none given"),
        ("--compute-s 9 --ready-s 2,1 --bucket-comm-s 1,1", "ready_s must not fall, got 1 after 2 at index 1"),
        ("--compute-s 1 --ready-s 2 --bucket-comm-s 1", "ready_s must be up to compute_s"),
        ("--compute-s 1 --ready-s 1 --bucket-comm-s x", "bucket_comm_s[0]: 'x' is not a number"),
    ],
)
def test_bad_input_is_one_sentence(arguments, said):
    seen = invoke("overlap", *arguments.split())
    assert_refused(seen)
    assert said in seen.err
