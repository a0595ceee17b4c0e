"""What stands above and below ranges of the host, by walking up from each of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf.analysis.nested import nested
from synperf.traces.building import Builder
from synperf.traces.events import Kind

from .references import KINETO, trace

# (start, duration, name, thread, whether it is marked): ranges that nest, meet, cross or are empty
ranges = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 20), st.integers(0, 2), st.integers(0, 1), st.booleans()),
    min_size=1,
    max_size=40,
)


def table(found):
    builder = Builder()
    start, dur, name, thread = (np.array(column) for column in list(zip(*found, strict=True))[:4])
    builder.add(len(found), kind=Kind.OPERATOR, name=name, start_ns=start, dur_ns=dur, process=1, thread=thread)
    return builder.events()


def ancestors(found, place):
    while (place := int(found.above[place])) >= 0:
        yield place


def assert_as_walked(found, marked, name):
    chains = [list(ancestors(found, place)) for place in range(len(found.rows))]
    inside, below = found.inside(marked, name), found.below(marked)
    for place, chain in enumerate(chains):
        assert inside[place] == any(marked[one] and name[one] == name[place] for one in chain)
        assert below[place] == any(marked[one] for one in chain)
        under = [other for other, its in enumerate(chains) if place in its]
        assert found.last[place] == max(under, default=place)
        assert under == list(range(place + 1, int(found.last[place]) + 1))
    assert found.depth.tolist() == list(map(len, chains))


@given(ranges)
def test_of_any_ranges(given_ranges):
    events = table(given_ranges)
    found = nested(events)
    marked = np.random.default_rng(len(given_ranges)).random(len(found.rows)) < 0.4
    assert_as_walked(found, marked, events.name[found.rows])


def test_none():
    found = nested(table([(0, 1, 0, 0, True)]))
    assert (found.inside(np.array([True]), np.array([0])).tolist(), found.last.tolist()) == ([False], [0])


@pytest.mark.parametrize("name", KINETO[:3])
def test_of_real_traces(name):
    events = trace(name).events
    found = nested(events)
    marked, names = events.kind[found.rows] == Kind.OPERATOR, events.name[found.rows]
    above = found.above.copy()
    inside, below = (np.zeros(len(found.rows), dtype=bool) for _ in range(2))
    while (alive := np.flatnonzero(above >= 0)).size:
        inside[alive] |= marked[above[alive]] & (names[above[alive]] == names[alive])
        below[alive] |= marked[above[alive]]
        above[alive] = found.above[above[alive]]
    assert (found.inside(marked, names) == inside).all()
    assert (found.below(marked) == below).all()


def test_thousands_of_ranges_one_in_another_are_not_walked_one_by_one():
    depth = 50_000
    found = nested(table([(n, 3 * depth - 2 * n, n % 3, 0, True) for n in range(depth)]))
    assert found.depth[-1] == depth - 1
    assert found.inside(np.ones(depth, dtype=bool), np.arange(depth) % 3).sum() == depth - 3
