"""Padding: the worked example of ten lengths by every strategy, and totals by brute force."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf import FieldError
from synperf.calculators.padding import padding
from synperf.errors import UnknownNameError

TEN = list(range(10, 101, 10))
CASES = [
    ({"strategy": "fixed"}, 1000, 0.45, 0.818),
    ({"strategy": "buckets", "buckets": 3}, 670, 0.179, 0.218),
    ({"strategy": "buckets", "buckets": [30, 60, 100]}, 670, 0.179, 0.218),
    ({"strategy": "buckets", "buckets": [40, 70, 100]}, 670, 0.179, 0.218),
    ({"strategy": "buckets", "buckets": 3, "edges": "equal"}, 703, 0.218, 0.278),
    ({"strategy": "dynamic", "batch": 2}, 600, 0.083, 0.091),
    ({"strategy": "dynamic", "batch": 3}, 640, 0.141, 0.164),
    ({"strategy": "dynamic", "batch": 5}, 750, 0.267, 0.364),
    ({"strategy": "dynamic", "batch": 2, "order": "random"}, 733.333, 0.25, 0.333),
    ({"strategy": "dynamic", "batch": 2, "order": "drawn"}, 715, 0.231, 0.3),
    ({"strategy": "dynamic", "batch": 1}, 550, 0, 0),
    ({"strategy": "packed"}, 550, 0, 0),
]
some = st.lists(st.integers(1, 30), min_size=1, max_size=6)


@pytest.mark.parametrize(("how", "tokens", "waste", "overhead"), CASES)
def test_the_worked_example(how, tokens, waste, overhead):
    found = padding(TEN, **how)
    assert found.padded_tokens == pytest.approx(tokens, abs=1e-3)
    assert found.waste == pytest.approx(waste, abs=5e-4)
    assert found.utilization == pytest.approx(1 - waste, abs=5e-4)
    assert found.overhead == pytest.approx(overhead, abs=5e-4)


def test_the_utilisation_of_a_fixed_length_is_what_is_often_printed_as_its_waste():
    assert padding(TEN).utilization == pytest.approx(0.55)


@given(some, st.integers(1, 4), st.sampled_from(["linear", "quadratic"]))
def test_optimal_buckets_cost_least_of_all(lengths, count, cost):
    power = 2 if cost == "quadratic" else 1
    distinct = sorted(set(lengths))
    least = min(
        sum(min(end for end in ends if end >= one) ** power for one in lengths)
        for size in range(1, min(count, len(distinct)) + 1)
        for ends in combinations(distinct, size)
        if ends[-1] == distinct[-1]
    )
    found = padding(lengths, strategy="buckets", buckets=count, cost=cost)
    assert sum(min(end for end in found.buckets if end >= one) ** power for one in lengths) == least
    assert len(found.buckets) <= count


@given(some, st.integers(1, 4))
def test_random_orders_are_what_all_of_them_come_to(lengths, batch):
    def tokens(order):
        rows = [order[at : at + batch] for at in range(0, len(order), batch)]
        return sum(len(row) * max(row) for row in rows)

    every = list(permutations(lengths))
    found = padding(lengths, strategy="dynamic", order="random", batch=batch)
    assert found.padded_tokens == pytest.approx(np.mean([tokens(order) for order in every]))
    assert padding(lengths, strategy="dynamic", order="given", batch=batch).padded_tokens == tokens(tuple(lengths))
    assert padding(lengths, strategy="dynamic", batch=batch).padded_tokens == min(map(tokens, every)) or (
        len(lengths) % batch
    )


@given(st.lists(st.integers(1, 30), min_size=1, max_size=4), st.integers(1, 3))
def test_drawn_batches_are_what_all_draws_come_to(lengths, batch):
    whole, rest = divmod(len(lengths), batch)
    sizes = [batch] * whole + ([rest] if rest else [])
    expected = sum(size * np.mean([max(draw) for draw in product(lengths, repeat=size)]) for size in sizes)
    found = padding(lengths, strategy="dynamic", order="drawn", batch=batch)
    assert found.padded_tokens == pytest.approx(expected)


@given(some)
def test_attention_counts_squares(lengths):
    found = padding(lengths)
    padded = len(lengths) * max(lengths) ** 2
    assert found.attention_overhead == pytest.approx(padded / sum(one**2 for one in lengths) - 1)
    assert found.attention_waste == pytest.approx(1 - sum(one**2 for one in lengths) / padded)


def test_large_random_batches_are_finite():
    found = padding(np.arange(1, 5001), strategy="dynamic", order="random", batch=2000)
    assert 12_502_500 < found.padded_tokens < 25_000_000


def test_what_wastes_less_is_said():
    assert padding(TEN).advice[0] == "dynamic, sorted, batches of 2: 600 tokens, 8.33 % waste"
    assert padding(TEN, strategy="packed").advice == ("nothing is padded",)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"lengths": []}, "lengths must be from 1 to"),
        ({"lengths": [0]}, "lengths"),
        ({"lengths": [1.5]}, "lengths"),
        ({"lengths": TEN, "batch": 0}, "batch"),
        (
            {"lengths": TEN, "capacity": 99},
            "capacity: 99 is less than the longest sequence; right would be 100 or more",
        ),
        ({"lengths": TEN, "buckets": [30, 60]}, "buckets: 60 is less"),
        ({"lengths": TEN, "buckets": []}, "buckets"),
        ({"lengths": TEN, "buckets": 0}, "buckets"),
    ],
)
def test_bad_input_is_named(how, said):
    with pytest.raises(FieldError, match=said):
        padding(**how)


@pytest.mark.parametrize("field", ["strategy", "order", "edges", "cost"])
def test_unknown_names_are_named(field):
    with pytest.raises(UnknownNameError, match=field):
        padding(TEN, **{field: "best"})
