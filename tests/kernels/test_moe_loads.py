"""Loads of the busiest rank: worked out by hand, against a step-by-step routing, and laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synperf import FusedMoe
from synperf.kernels.moe_listed import experts_of
from synperf.kernels.moe_loads import balanced, loads, of_busiest_rank
from synperf.kernels.moe_power_law import BLOCKS, NUM_DRAWS, _routed, curves


def of(**fields):
    return loads(FusedMoe(**({"hidden": 64, "inter": 64} | fields)))


def test_ten_rows_on_four_experts_are_three_three_two_two():
    own = of(tokens=5, experts=4, topk=2)
    assert (own.rows, own.active, own.hottest, own.tiles[16]) == (10, 4, 3, 4)


def test_of_two_ranks_each_has_one_of_the_experts_with_one_row_more():
    own = of(tokens=5, experts=4, topk=2, ep=2)
    assert (own.rows, own.active, own.hottest) == (5, 2, 3)


def test_fewer_rows_than_experts_leave_experts_idle():
    own = of(tokens=1, experts=128, topk=8, ep=4)
    assert (own.rows, own.active, own.hottest, own.tiles[128]) == (2, 2, 1, 2)


def test_given_loads_are_those_of_the_rank_with_most_rows():
    own = of(tokens=20, experts=4, topk=2, ep=2, tokens_per_expert=[20, 0, 17, 3])
    assert (own.rows, own.active, own.hottest) == (20, 1, 20)
    own = of(tokens=20, experts=4, topk=2, ep=2, tokens_per_expert="1,2,17,20")
    assert (own.rows, own.active, own.hottest, own.tiles[16]) == (37, 2, 20, 4)


def test_columns_of_one_given_routing_equal_single_calls():
    many = of(tokens=[20, 10, 20], experts=4, topk=[2, 4, 2], ep=[1, 2, 4], tokens_per_expert=[10, 10, 10, 10])
    assert (many.rows.tolist(), many.hottest.tolist()) == ([40, 20, 10], [10, 10, 10])
    assert many.tiles[16].tolist() == [4, 2, 1]


@given(st.integers(1, 4000), st.sampled_from([1, 2, 4, 8]), st.integers(1, 8), st.integers(1, 8))
@settings(max_examples=200)
def test_balanced_loads_equal_those_of_the_counts_that_they_stand_for(tokens, ep, per_rank, topk):
    experts = ep * per_rank
    topk = min(topk, experts)
    least, more = divmod(tokens * topk, experts)
    order = np.arange(experts).reshape(per_rank, ep).T.ravel()  # experts with one more take turns over the ranks
    counts = tuple((least + (order < more)).tolist())
    own, counted = balanced(tokens, experts, topk, ep), of_busiest_rank(counts, ep)
    assert (own.rows, own.active, own.hottest, own.tiles) == (
        counted.rows,
        counted.active,
        counted.hottest,
        counted.tiles,
    )


def one_by_one(uniform, tokens, topk, ep, alpha):
    """The collector's routing, a row at a time: counts of each expert."""
    experts, many = len(uniform), tokens * topk > len(uniform)
    low, high = (1.0, 0.8 * tokens) if many else (0.01, 2.0)
    power = 1 - alpha
    shares = [((high**power - low**power) * u + low**power) ** (1 / power) for u in uniform]
    counts = [min(round(share / sum(shares) * tokens * topk), tokens) for share in shares]
    own = experts // ep

    def adjust(number, allowed, pick, step):
        while number:
            for rank in range(ep):
                open_ones = [e for e in range(rank * own, (rank + 1) * own) if allowed(counts[e])]
                if open_ones and number:
                    counts[pick(open_ones, key=counts.__getitem__)] += step
                    number -= 1

    off = tokens * topk - sum(counts)
    adjust(max(off, 0), lambda n: n < tokens, min, 1)
    adjust(max(-off, 0), lambda n: n > 0, max, -1)
    return np.sort(np.array(counts).reshape(ep, own), axis=1)


@pytest.mark.parametrize(
    ("tokens", "experts", "topk", "ep", "alpha"),
    [(1, 128, 8, 4, 1.2), (7, 8, 2, 2, 1.01), (64, 60, 6, 4, 1.2), (333, 8, 8, 2, 1.2), (16, 128, 8, 8, 1.01)],
)
def test_routings_are_those_of_one_row_at_a_time(tokens, experts, topk, ep, alpha):
    uniform = np.random.default_rng(7).random((3, experts))
    found = _routed(np.array([[[float(tokens)]]]), uniform, topk, ep, alpha)[0]
    for draw, counts in zip(uniform.tolist(), found, strict=True):
        assert (np.sort(counts, axis=1) == one_by_one(draw, tokens, topk, ep, alpha)).all()


def test_where_a_rank_is_full_counts_differ_by_a_row_at_most():
    uniform = np.random.default_rng(7).random((8, 16))
    found = _routed(np.array([[[100.0]]]), uniform, 8, 16, 1.2)[0]
    for draw, counts in zip(uniform.tolist(), found, strict=True):
        assert np.abs(counts - one_by_one(draw, 100, 8, 16, 1.2)).max() <= 1


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.01, 1.2, 3.0])
def test_routed_rows_are_all_rows_and_no_expert_has_more_than_tokens(alpha):
    tokens = np.array([1.0, 6.0, 100.0, 5000.0, 2.0**31])[:, None, None]
    found = _routed(tokens, np.random.default_rng(1).random((NUM_DRAWS, 16)), 3, 4, alpha)
    assert (found.sum(axis=(2, 3)) == 3 * tokens[:, :, 0]).all()
    assert (found >= 0).all()
    assert (found <= tokens[..., None]).all()
    assert (found == np.floor(found)).all()


@pytest.mark.parametrize("key", [(8, 2, 1, 1.2), (128, 8, 8, 1.01), (60, 6, 4, 1.2), (16, 8, 16, 1.2)])
def test_loads_of_a_power_law_never_fall_in_tokens_and_stay_within_bounds(key):
    known = curves(*key)
    experts, topk, ep, _ = key
    rows, active, hottest, *tiles = known.values
    assert (np.diff(known.values, axis=1) >= 0).all()
    assert (rows >= known.tokens * topk / ep * (1 - 1e-12)).all()  # the busiest has the mean at least
    assert (rows <= known.tokens * min(topk, experts // ep) * (1 + 1e-12)).all()
    assert (active <= experts // ep).all()
    assert (hottest <= known.tokens).all()
    for block, count in zip(BLOCKS, tiles, strict=True):
        assert (count * block >= rows * (1 - 1e-9)).all()


def test_a_power_law_is_less_even_than_round_robin():
    even, steep = (of(tokens=1024, experts=64, topk=4, ep=4, distribution=d) for d in ("balanced", "power_law_1.2"))
    assert steep.rows > even.rows
    assert steep.hottest > 2 * even.hottest


def test_columns_of_a_power_law_equal_single_calls():
    rng = np.random.default_rng(0)
    columns = {
        "tokens": rng.integers(1, 20_000, 50),
        "experts": rng.choice([8, 64], 50),
        "topk": rng.choice([1, 2, 6], 50),
        "ep": rng.choice([1, 4], 50),
    }
    many = of(**columns, distribution="power_law_1.01")
    for i in range(50):
        one = of(**{name: int(x[i]) for name, x in columns.items()}, distribution="power_law_1.01")
        assert (many.rows[i], many.active[i], many.hottest[i]) == (one.rows, one.active, one.hottest)
        assert {b: x[i] for b, x in many.tiles.items()} == one.tiles


@given(
    st.integers(1, 100_000), st.sampled_from([1, 2, 8]), st.integers(1, 16), st.integers(1, 8),
    st.sampled_from(["balanced", "power_law_1.01", "power_law_1.2"]), st.sampled_from(BLOCKS),
)  # fmt: skip
@settings(max_examples=60)
def test_experts_one_by_one_add_up_to_the_loads(tokens, ep, per_rank, topk, distribution, block):
    call = FusedMoe(
        tokens=tokens, hidden=64, inter=64, experts=ep * per_rank, topk=min(topk, ep * per_rank), ep=ep,
        distribution=distribution,
    )  # fmt: skip
    listed, own = experts_of(call, block), loads(call)
    for total, expected in ((listed.rows.sum(), own.rows), (listed.padded.sum(), own.tiles[block] * block)):
        assert total <= expected * (1 + 1e-9)  # the loads' curves never fall, where means may dip
        assert total == pytest.approx(expected) or distribution != "balanced"
    assert listed.rows[0] <= own.hottest * (1 + 1e-9)
    assert listed.ranks.sum() == pytest.approx(tokens * call.topk)
    assert (np.diff(listed.rows) <= 1e-9).all()
