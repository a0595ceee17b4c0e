"""The end of every run, and where a run of decodes is cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf.serving.clock import cut, ends
from synperf.serving.iterations import Run
from synperf.serving.loop import serve
from synperf.serving.policy import Policy
from tests.serving.reference import load


def decodes(count):
    return Run(count, 0, 0, 0, 0.0, 0.0, 1, 10 + count / 2)


@pytest.mark.parametrize(("gap_s", "right"), [(0.5, 1), (1.0, 1), (1.5, 2), (2.0, 2), (7.9, 8), (9.0, 9), (99.0, 9)])
def test_a_run_is_cut_after_the_iteration_in_which_a_request_comes(gap_s, right):
    assert cut(decodes, 9, gap_s, lambda _: 1.0) == right


@given(st.integers(1, 5000), st.floats(0.001, 1e5), st.floats(0, 0.1))
def test_a_cut_run_is_the_shortest_that_lasts(most, gap_s, growth):
    def seconds(run):
        return 1.0 + growth * run.decode_kv

    def lasts(count):
        return count * seconds(decodes(count))

    found = cut(decodes, most, gap_s, seconds)
    assert found == most or lasts(found) >= gap_s
    assert found == 1 or lasts(found - 1) < gap_s


def test_an_engine_with_nothing_to_do_waits_for_the_next_request():
    iterations, served = serve(load([1, 1, 1], [2, 1, 1], arrived_s=[1.0, 2.5, 9.0]), Policy(), seconds=lambda _: 1.0)
    # the first has its tokens at 2 and 3, the second its one at 4; the third comes at 9
    assert ends(iterations, served, np.ones(len(iterations))).tolist() == [2.0, 3.0, 4.0, 10.0]
