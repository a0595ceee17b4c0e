"""Warps of a scheduler: the check of a latency-bound kernel, laws, and bad input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf import FieldError
from synperf.calculators.warp_states import warp_states
from synperf.errors import UnknownNameError
from synperf.hardware.capability import capability
from tests.cli.runner import assert_refused, invoke

GIVEN = {"active": 8, "eligible": 0.6, "issued": 0.45}


def test_fewer_than_one_eligible_warp_is_latency_bound():
    found = warp_states(**GIVEN)
    assert found.latency_bound
    assert found.issue_slot_utilization == 0.45
    assert found.advice[0].startswith("Schedulers run out of warps that can issue: latency bound")
    assert found.warps_to_fill == pytest.approx(8 / 0.45)


def test_enough_eligible_warps_are_not():
    assert not warp_states(active=12, eligible=2.5, issued=0.9).latency_bound


def test_the_reason_of_most_stalls_is_told_with_its_advice():
    found = warp_states(**GIVEN, stalls={"wait": 3, "long_scoreboard": 9})
    assert list(found.stalls.items()) == [("long_scoreboard", 0.75), ("wait", 0.25)]
    assert "waits for data from global, local, surface or texture memory" in found.why[-1]
    assert any("Coalesce" in one for one in found.advice)


def test_more_warps_than_fit_ask_for_more_from_each():
    assert "more than the 16 that a scheduler holds" in warp_states(**GIVEN).advice[-1]
    assert "a scheduler holds 16: raise occupancy" in warp_states(active=4, eligible=0.6, issued=0.5).advice[-1]
    assert warp_states(**GIVEN, sm=capability("8.9")).max_warps == 12


@given(st.floats(0.01, 16), st.floats(0, 1), st.floats(0.01, 1))
def test_filling_warps_issue_in_every_cycle(active, eligible_share, issued_share):
    eligible = active * eligible_share
    issued = min(1.0, eligible) * issued_share
    if issued <= 1e-6:
        return
    found = warp_states(active=active, eligible=eligible, issued=issued)
    assert found.warps_to_fill * issued / active == pytest.approx(1)
    assert found.latency_bound == (eligible < 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"active": 17}, "active must be 16 or fewer"),
        ({"eligible": 9}, "eligible must be 8 or fewer"),
        ({"issued": 0.7}, "issued must be 0.6 or less"),
        ({"issued": 0}, "issued must be above 0"),
        ({"active": float("nan")}, "active must be above 0"),
        ({"stalls": {"wait": 0}}, "stalls: all are 0"),
        ({"stalls": {"wait": -1}}, "stalls wait must be 0 or above"),
    ],
)
def test_what_cannot_be_is_named(change, message):
    with pytest.raises(FieldError, match=message):
        warp_states(**(GIVEN | change))


def test_an_unknown_reason_has_a_nearest():
    with pytest.raises(UnknownNameError, match="no stall reason named 'barier'; nearest: barrier"):
        warp_states(**GIVEN, stalls={"barier": 1})


@pytest.mark.parametrize("stalls", ["", "wait", "wait=", "wait=x", "wait=1,wait=2", "=1"])
def test_bad_lists_are_one_sentence(stalls):
    seen = invoke("warp-states", "--active", "8", "--eligible", "0.6", "--issued", "0.45", "--stalls", stalls)
    assert_refused(seen)
    assert "stalls" in seen.err
