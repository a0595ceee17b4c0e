"""Tiles of requests that differ, counted by length without a list of all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf import Attention
from synperf.kernels.attention_requests import requests
from synperf.kernels.attention_tiles import Tiling, _as_long, steps, tile_lengths


@given(
    st.lists(st.tuples(st.integers(1, 900), st.integers(0, 5000)), min_size=2, max_size=6),
    st.sampled_from([0, 1, 700]),
    st.sampled_from([(128, 128, 1), (64, 64, 4), (192, 80, 8)]),
)
def test_as_many_tiles_are_as_long_as_a_list_of_all_has(lengths, window, sizes):
    rows, columns, packed = map(float, sizes)
    q, more = zip(*lengths, strict=True)
    kv = [new + cached for new, cached in zip(q, more, strict=True)]
    call = Attention(q_lens=list(q), kv_lens=kv, heads=8, kv_heads=8, head_dim=128, window=window)
    r = requests(call)
    if not r.differ:
        return
    t = Tiling(rows=rows, columns=columns, packed=packed, heads=2.0, head_dim=128.0, v_head_dim=128.0)
    s = steps(call, r, t)
    counts = np.repeat(r.count * t.heads, np.broadcast_to(s.tiles, r.kv.shape).astype(np.int64))
    every = tile_lengths(call, r, t, s)
    found = _as_long(r, t, s, np.broadcast_to(s.tiles, r.kv.shape))
    assert found.tolist() == [counts[every >= length].sum() for length in range(len(found))]
    assert len(found) == pytest.approx(every.max() + 1)
