"""The tiles of an attention call one by one, for a drawing."""

from __future__ import annotations

import numpy as np

from ..hardware import GPU
from .attention_call import Attention
from .attention_requests import Requests
from .attention_tiles import Tiling, steps, tile_lengths
from .attention_work import Work, work
from .one_by_one import MOST_LISTED, Order, Tiles


def listed(p: Attention, gpu: GPU) -> Tiles:
    """Tiles of one call; those of a split launch are spread evenly, as its time is."""
    w = work(p, gpu)
    return tiles_of(p, w, is_even=bool(w.is_split))


def tiles_of(p: Attention, w: Work, *, is_even: bool) -> Tiles:
    """Tiles of one call whose work is known."""
    order = Order.LONGEST_FIRST if w.traits.longest_first else Order.IN_ORDER
    return Tiles(
        num_tiles=int(w.tiles),
        total=float(w.total_steps),
        longest=float(w.requests.most(w.steps.longest)),
        busiest=float(w.busiest),
        order=Order.EVENLY if is_even else order,
        lengths=_lengths(p, w.tiling) if w.tiles <= MOST_LISTED else None,
    )


def _lengths(p: Attention, t: Tiling) -> np.ndarray:
    """Steps of every tile; of each request the first tile first."""
    lengths = np.broadcast_arrays(*(np.atleast_1d(p.q_lens or p.q_len), np.atleast_1d(p.kv_lens or p.kv_len)))
    repeated = 1 if p.q_lens or p.kv_lens else p.batch
    q, kv = (np.tile(one, repeated)[::-1].astype(np.float64) for one in lengths)
    r = Requests(q=q, kv=kv, count=np.ones(len(q)), differ=True)
    return np.tile(tile_lengths(p, r, t, steps(p, r, t))[::-1], int(t.heads))
