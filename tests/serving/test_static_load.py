"""Static batches: iterations of their prompts, and the decode steps in which fewer and fewer requests are left."""

import numpy as np
import pytest

from synperf import FieldError
from synperf.serving.static_load import Listed, Uniform


def chunks(batches):
    """(count, new tokens, tokens after them, whether one is drawn) of every iteration."""
    return [[(r.count, r.q_len, r.kv_len, r.samples) for r in batch.requests] for batch in batches]


def test_prompts_run_in_one_iteration_without_a_budget() -> None:
    load = Listed(isl=[100, 300, 100], osl=5, cached=[0, 200, 0])
    assert chunks(load.prompts(1, None)) == [[(2, 100, 100, True), (1, 100, 300, True)]]


def test_prompts_are_cut_to_the_budget_in_their_order() -> None:
    load = Listed(isl=[700, 500], osl=5)
    assert chunks(load.prompts(1, 512)) == [
        [(1, 512, 512, False)],
        [(1, 188, 700, True), (1, 324, 324, False)],
        [(1, 176, 500, True)],
    ]


def test_a_cached_prefix_is_there_before_the_first_chunk() -> None:
    assert chunks(Listed(isl=[1000], cached=900).prompts(1, 64)) == [[(1, 64, 964, False)], [(1, 36, 1000, True)]]


def test_a_uniform_load_is_cut_as_a_listed_one() -> None:
    assert chunks(Uniform(batch=3, isl=300).prompts(1, 512)) == chunks(Listed(isl=[300] * 3).prompts(1, 512))


def test_the_budget_is_never_exceeded_and_all_tokens_run() -> None:
    load = Listed(isl=[1, 4000, 17, 512, 511, 513], osl=2)
    tokens = [batch.tokens for batch in load.prompts(1, 512)]
    assert max(tokens) <= 512
    assert sum(tokens) == sum(load.isl)


def test_requests_leave_when_their_answers_are_complete() -> None:
    spans = Listed(isl=[10, 10, 10], osl=[1, 3, 11]).spans(1)
    assert [(span.steps, span.batches[0].sampled) for span in spans] == [(2, 2), (8, 1)]


def test_steps_of_a_span_add_up_where_many_leave_one_after_another() -> None:
    load = Listed(isl=[100] * 60, osl=list(range(2, 62)))
    spans = load.spans(1)
    assert sum(span.steps for span in spans) == load.steps == 60
    assert [span.batches[0].sampled for span in spans] == sorted((s.batches[0].sampled for s in spans), reverse=True)


def test_two_steps_stand_for_a_span_evenly() -> None:
    (span,) = Uniform(batch=4, isl=1000, osl=1001).spans(1)
    first, second = (batch.requests[0].kv_len for batch in span.batches)
    assert span.steps == 1000
    assert (first + second) / 2 == pytest.approx(1500.5, abs=1)


def test_groups_of_ranks_share_requests_and_the_fullest_counts() -> None:
    assert Uniform(batch=5, isl=10, osl=2).prompts(2, None)[0].sampled == 3
    assert chunks(Listed(isl=[1, 9, 5, 7], osl=2).prompts(2, None)) == [[(1, 9, 9, True), (1, 5, 5, True)]]


def test_columns_are_many_loads() -> None:
    load = Uniform(batch=np.array([1, 2]), isl=np.array([10, 20]), osl=np.array([1, 5]))
    assert load.steps.tolist() == [0, 4]
    assert load.prompts(1, None)[0].tokens.tolist() == [10, 40]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Uniform(batch=0, isl=10), "batch"),
        (lambda: Uniform(isl=-1), "isl"),
        (lambda: Uniform(isl=10, osl=0), "osl"),
        (lambda: Uniform(isl=10, cached=10), "cached must be below isl, which is 10, got 10"),
        (lambda: Listed(isl=[]), "isl must have a length for each request"),
        (lambda: Listed(isl=[10, 0]), r"isl\[1\]"),
        (lambda: Listed(isl=[10, 20], osl=[1]), "osl must have a value for each of the 2 requests, got 1"),
        (lambda: Listed(isl=[10, 20], cached=[0, 30]), r"cached\[1\] must be below isl, which is 20, got 30"),
        (lambda: Listed(isl=[10]).prompts(1, 0), "token_budget"),
        (lambda: Uniform(batch=np.array([1, 2]), isl=8).prompts(1, 64), "token_budget: it is for one load at a time"),
    ],
)
def test_what_is_wrong_is_named(make, said: str) -> None:
    with pytest.raises(FieldError, match=said):
        make()
