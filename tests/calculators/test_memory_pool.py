"""Memory pools: the peak by brute force, and plans in which nothing overlaps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf import FieldError
from synperf.calculators.memory_pool import Tensor, chain, memory_pool

tensors = st.lists(st.tuples(st.integers(1, 50), st.integers(0, 8), st.integers(0, 4)), min_size=1, max_size=8).map(
    lambda rows: [
        Tensor(name=f"t{i}", bytes=size, first=first, last=first + more) for i, (size, first, more) in enumerate(rows)
    ]
)


def test_a_chain_of_three_needs_two_at_once():
    found = memory_pool(chain([4, 4, 4]))
    assert (found.peak_bytes, found.pool_bytes, found.without_reuse_bytes) == (8, 8, 12)


@given(tensors)
def test_nothing_that_lives_at_once_overlaps_and_the_peak_is_a_bound(some):
    found = memory_pool(some)
    alive = [sum(t.bytes for t in some if t.first <= step <= t.last) for step in range(14)]
    assert found.peak_bytes == max(alive) == alive[found.peak_step]
    assert found.peak_bytes <= found.pool_bytes <= found.without_reuse_bytes
    for i, one in enumerate(found.tensors):
        for other in found.tensors[:i]:
            if one.first <= other.last and other.first <= one.last:
                assert one.offset + one.bytes <= other.offset or other.offset + other.bytes <= one.offset


def test_alignment_rounds_every_tensor_up():
    found = memory_pool(chain([1, 513]), alignment=512)
    assert [t.bytes for t in found.tensors] == [512, 1024]
    assert all(t.offset % 512 == 0 for t in found.tensors)


@pytest.mark.parametrize(
    ("some", "said"),
    [
        ([], "tensors must be from 1"),
        (chain([0]), "bytes of a"),
        ([Tensor(name="a", bytes=1, first=2, last=1)], "a: lives from step 2 to 1"),
        ([Tensor(name="a", bytes=1, first=0, last=1)] * 2, "two have the same name"),
    ],
)
def test_bad_input_is_named(some, said):
    with pytest.raises(FieldError, match=said):
        memory_pool(some)
