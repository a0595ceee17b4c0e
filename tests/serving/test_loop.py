"""Schedules that are worked out by hand, one for each rule."""

import pytest

from synperf.errors import FieldError
from synperf.serving import journal
from synperf.serving.loop import serve
from synperf.serving.policy import Policy
from tests.serving.reference import load

MIXED = Policy(token_budget=10, block_tokens=1)
FIRST = Policy(order="prefill_first", token_budget=10, block_tokens=1)


def rows(iterations):
    """(repeats, new tokens of prompts, prompts that end, decodes, tokens in the cache of each in the mean)"""
    return [
        (repeats, prompt, ended, decodes, kv)
        for repeats, prompt, ended, decodes, kv in zip(
            iterations.repeats.tolist(),
            iterations.prompt_tokens.tolist(),
            iterations.first_tokens.tolist(),
            iterations.decodes.tolist(),
            iterations.decode_kv.tolist(),
            strict=True,
        )
    ]


def test_a_request_alone_is_its_prompt_and_one_run_of_decodes():
    iterations, served = serve(load([4], [6]), MIXED)
    assert rows(iterations) == [(1, 4, 1, 0, 0.0), (5, 0, 0, 1, 7.0)]  # keys from 5 to 9
    assert (iterations.chunk_pairs[0], iterations.chunk_kv[0]) == (10.0, 4.0)
    assert (served.first.tolist(), served.last.tolist(), served.released_by.tolist()) == ([0], [1], [-1])


def test_an_answer_of_one_token_ends_with_the_prompt():
    iterations, served = serve(load([4], [1]), MIXED)
    assert rows(iterations) == [(1, 4, 1, 0, 0.0)]
    assert served.last.tolist() == [0]


def test_prompts_go_in_order_and_are_cut_to_the_budget():
    iterations, served = serve(load([6, 7], [1, 1]), MIXED)
    assert rows(iterations) == [(1, 10, 1, 0, 0.0), (1, 3, 1, 0, 0.0)]
    assert iterations.chunks.tolist() == [2, 1]
    assert iterations.chunk_pairs.tolist() == [21 + 10, 5 + 6 + 7]
    assert iterations.chunk_kv.tolist() == [6 + 4, 7]
    assert served.first.tolist() == [0, 1]


def test_decodes_take_their_tokens_of_the_budget_first():
    iterations, _ = serve(load([4, 20], [9, 1]), MIXED)
    assert rows(iterations) == [(1, 10, 1, 0, 0.0), (1, 9, 0, 1, 5.0), (1, 5, 1, 1, 6.0), (6, 0, 0, 1, 9.5)]


def test_prompts_go_before_decodes_where_the_policy_says_so():
    iterations, _ = serve(load([4, 20], [9, 1]), FIRST)
    assert rows(iterations) == [(1, 10, 1, 0, 0.0), (1, 10, 0, 0, 0.0), (1, 4, 1, 0, 0.0), (8, 0, 0, 1, 8.5)]


def test_a_prompt_that_may_not_be_cut_waits_for_the_next_iteration():
    iterations, _ = serve(load([6, 7], [1, 1]), Policy(token_budget=10, chunked=False))
    assert rows(iterations) == [(1, 6, 1, 0, 0.0), (1, 7, 1, 0, 0.0)]


@pytest.mark.parametrize("isl", [20, 10])
def test_a_prompt_that_may_not_be_cut_and_does_not_fit_beside_decodes_runs_alone(isl):
    iterations, _ = serve(load([4, isl], [3, 1]), Policy(token_budget=10, chunked=False))
    assert rows(iterations) == [(1, 4, 1, 0, 0.0), (1, isl, 1, 0, 0.0), (2, 0, 0, 1, 5.5)]


def test_seats_are_given_in_order_as_they_become_free():
    iterations, served = serve(load([2, 2, 2], [2, 4, 2]), Policy(token_budget=10, max_requests=2))
    assert rows(iterations) == [(1, 4, 2, 0, 0.0), (1, 0, 0, 2, 3.0), (1, 2, 1, 1, 4.0), (1, 0, 0, 2, 4.0)]
    assert served.last.tolist() == [1, 3, 3]


def test_no_more_requests_run_than_the_budget_has_tokens():
    iterations, _ = serve(load([1, 1, 1], [3, 3, 3]), Policy(token_budget=2))
    assert iterations.decodes.max() == 2


def test_a_completion_releases_the_next_request_of_its_client():
    iterations, served = serve(load([2, 2, 2, 2], [2, 3, 1, 1], clients=2), MIXED)
    assert rows(iterations) == [(1, 4, 2, 0, 0.0), (1, 0, 0, 2, 3.0), (1, 2, 1, 1, 4.0), (1, 2, 1, 0, 0.0)]
    assert served.released_by.tolist() == [-1, -1, 1, 2]
    assert served.last.tolist() == [1, 2, 2, 3]


def test_a_prefix_in_the_cache_is_seen_and_not_computed():
    iterations, _ = serve(load([8], [2], cached=[5]), MIXED)
    assert rows(iterations) == [(1, 3, 1, 0, 0.0), (1, 0, 0, 1, 9.0)]
    assert (iterations.chunk_pairs[0], iterations.chunk_kv[0]) == (6 + 7 + 8, 8.0)


def test_a_prompt_waits_for_room():
    iterations, served = serve(load([4, 4], [3, 1]), MIXED, max_tokens=8)
    assert rows(iterations) == [(1, 8, 2, 0, 0.0), (2, 0, 0, 1, 5.5)]
    iterations, served = serve(load([4, 4], [3, 1]), MIXED, max_tokens=7)
    assert rows(iterations) == [(1, 4, 1, 0, 0.0), (2, 0, 0, 1, 5.5), (1, 4, 1, 0, 0.0)]
    assert not served.preempted.any()


def test_room_is_taken_in_blocks():
    policy = Policy(token_budget=10, block_tokens=4)
    together, _ = serve(load([4, 4], [1, 1]), policy, max_tokens=8)
    apart, _ = serve(load([4, 5], [1, 1]), policy, max_tokens=11)
    assert (len(together), len(apart)) == (1, 2)


def test_the_latest_request_loses_its_cache_when_decodes_outgrow_the_room():
    """Both grow to 4 tokens each; then the second goes back with the 3 it has drawn, and is computed again."""
    iterations, served = serve(load([2, 2], [5, 5]), MIXED, max_tokens=8)
    assert rows(iterations) == [
        (1, 4, 2, 0, 0.0),  # 2 + 2 tokens in the cache
        (2, 0, 0, 2, 3.5),  # 4 + 4
        (2, 0, 0, 1, 5.5),  # 5 and 6: there is no room for the 5 tokens of the other
        (1, 5, 1, 0, 0.0),  # 2 of its prompt and 3 drawn, and one more is
        (1, 0, 0, 1, 6.0),
    ]
    assert served.preempted.tolist() == [0, 1]
    assert served.stalls.tolist() == [[1, 1, 3]]
    assert (served.first.tolist(), served.last.tolist()) == ([0, 0], [2, 4])


def test_a_prompt_that_is_in_the_cache_in_part_is_the_first_to_lose_it():
    iterations, served = serve(load([4, 26], [20, 1]), MIXED, max_tokens=30)
    assert rows(iterations) == [
        (1, 10, 1, 0, 0.0),  # 4 + 26 tokens have room, but not one more
        (19, 0, 0, 1, 14.0),
        (1, 10, 0, 0, 0.0),
        (1, 10, 0, 0, 0.0),
        (1, 6, 1, 0, 0.0),
    ]
    assert served.preempted.tolist() == [0, 1]
    assert served.stalls.tolist() == []  # it had no token yet


def test_requests_come_by_the_clock_and_decodes_are_cut_there():
    def seconds(run):
        return 1.0 + 0.5 * run.prompt_tokens

    iterations, served = serve(load([2, 2], [9, 1], arrived_s=[0.5, 5.0]), MIXED, seconds=seconds)
    # from 0.5 the prompt takes 2, from 2.5 three decodes take 3, to 5.5; the second comes at 5.0
    assert rows(iterations) == [(1, 2, 1, 0, 0.0), (3, 0, 0, 1, 4.0), (1, 2, 1, 1, 6.0), (4, 0, 0, 1, 8.5)]
    assert served.first.tolist() == [0, 2]


def test_a_request_that_can_never_fit_is_named():
    with pytest.raises(FieldError, match=r"request 2 \(isl 4, osl 6\) can never fit: it needs 9 tokens .* room for 8"):
        serve(load([4, 4], [5, 6]), MIXED, max_tokens=8)
    with pytest.raises(FieldError, match="room for 0 in blocks of 16"):
        serve(load([4], [1]), Policy(), max_tokens=15)


def test_a_load_that_takes_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(journal, "MOST_RUNS", 3)
    with pytest.raises(FieldError, match="more than 3 iterations that are not alike"):
        serve(load([9], [1]), Policy(token_budget=2))
