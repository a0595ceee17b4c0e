"""The requests of attention calls: alike within a call, or with lengths of their own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..numeric import Number, is_array, maximum
from .attention_call import Attention, Lengths
from .base import num_calls


@dataclass(slots=True, kw_only=True)
class Requests:
    """`count` requests of `q` queries over `kv` keys. Where they differ, all three have a leading axis of requests.

    Requests of the same lengths are one row, and rows are sorted, so that their order in the call changes nothing.
    """

    q: Number
    kv: Number
    count: Number
    differ: bool

    def total(self, each: Number) -> Number:
        """Sum over all requests of what each of a row has."""
        if not self.differ:
            return self.count * each
        found = (self.count * each).sum(axis=0)
        return float(found) if found.ndim == 0 else found

    def most(self, each: Number) -> Number:
        """The most that any request has."""
        if not self.differ:
            return each
        found = each.max(axis=0)
        return float(found) if found.ndim == 0 else found

    def mean(self, each: Number) -> Number:
        """The mean over requests."""
        return self.total(each) / self.total(1.0)


def requests(p: Attention) -> Requests:
    """Requests of the call, or of each call of columns."""
    if p.q_lens is None and p.kv_lens is None:
        return Requests(q=1.0 * p.q_len, kv=1.0 * p.kv_len, count=1.0 * p.batch, differ=False)
    q, kv, count = _distinct(p.q_lens or p.q_len, p.kv_lens or p.kv_len)
    if len(q) == 1:
        return Requests(q=float(q[0]), kv=float(kv[0]), count=float(count[0]), differ=False)
    if num_calls(p) is not None:
        q, kv, count = q[:, None], kv[:, None], count[:, None]
    return Requests(q=q, kv=kv, count=count, differ=True)


@lru_cache(maxsize=16)
def _distinct(q_lens: Lengths | int, kv_lens: Lengths | int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sorted distinct pairs of lengths and how often each occurs, float64."""
    q, kv = np.broadcast_arrays(np.asarray(q_lens, dtype=np.int64), np.asarray(kv_lens, dtype=np.int64))
    order = np.lexsort((kv, q))
    q, kv = q[order], kv[order]
    first = np.flatnonzero(np.concatenate(([True], (q[1:] != q[:-1]) | (kv[1:] != kv[:-1]))))
    count = np.diff(np.append(first, len(q)))
    return q[first].astype(np.float64), kv[first].astype(np.float64), count.astype(np.float64)


def pairs(p: Attention, r: Requests) -> Number:
    """Pairs of a query and a key that the mask lets meet, of one head, over all requests: what the FLOP are of."""
    return r.total(_pairs(p, r.q, r.kv))


def _pairs(p: Attention, q: Number, kv: Number) -> Number:
    if not p.causal and not _any_window(p):
        return q * kv
    reach = _reach(p, kv)
    found = _rising(q, kv, reach)
    if p.causal:
        return found
    behind = maximum(reach - 1.0, 0.0)  # keys after the query, one fewer than those up to it
    ramp = maximum(q - 1.0 - behind, 0.0)
    later = q * (q - 1.0) / 2.0 - ramp * (ramp + 1.0) / 2.0
    no_window = q * kv
    windowed = p.window != 0
    if is_array(windowed):
        return np.where(windowed, found + later, no_window)
    return found + later if windowed else no_window


def _rising(q: Number, kv: Number, reach: Number) -> Number:
    """Keys up to each query and within `reach` of it: the last query has kv behind it, the one before kv - 1."""
    cut = _clip(kv - reach, q)  # queries, from the last one on, whose reach is shorter than what is behind them
    return reach * cut + (q - cut) * kv - (q * (q - 1.0) - cut * (cut - 1.0)) / 2.0


def _reach(p: Attention, kv: Number) -> Number:
    """Keys up to itself that a query sees at most: the window, or all."""
    if not _any_window(p):
        return kv
    windowed = p.window != 0
    if is_array(windowed) or is_array(kv):
        return np.where(windowed, np.minimum(1.0 * p.window, kv), kv)
    return min(1.0 * p.window, kv) if windowed else kv


def _any_window(p: Attention) -> bool:
    return type(p.window) is np.ndarray or p.window != 0


def _clip(x: Number, most: Number) -> Number:
    """`x` from 0 to `most`."""
    if is_array(x) or is_array(most):
        return np.clip(x, 0.0, most)
    return min(max(x, 0.0), most)


def keys_seen(p: Attention, r: Requests) -> Number:
    """Keys of a request that any of its queries sees; the window of all of them together may leave out the first."""
    if not _any_window(p):
        return r.kv
    reach = _reach(p, r.kv) + r.q - 1.0
    if is_array(reach) or is_array(r.kv):
        return np.minimum(reach, r.kv)
    return min(reach, r.kv)
