"""How kernels split K and V over CTAs where tiles alone would leave SMs idle: the rules of the libraries.

The rules are shown and seen by networks. The time of a split launch stands on its best case instead, work that is
spread evenly: a rule may split worse for one key more, and a time that follows it would fall where work grows.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..numeric import Number, ceil_div, is_array, maximum

MOST_SPLITS = 128
LEAST_CHUNK = 128  # keys; FlashInfer splits no finer, or a page where that is longer
FULL = 0.8  # of the SMs: from there on, FlashAttention does not split
_FEW_BLOCKS = 4
_GOOD = 0.85  # of the best fill is good enough for fewer splits


def num_splits(work: Number, num_sms: int, blocks: Number) -> Number:
    """Splits of FlashAttention for `work` tiles that step over `blocks` tiles of keys each.

    The fewest splits that fill their waves to 85 % of the best fill; only those count that shorten the chunks.
    Source: flash-attention repository, `num_splits_heuristic`.
    """
    if not is_array(work) and not is_array(blocks):
        return _num_splits(float(work), num_sms, float(blocks))
    work, blocks = np.broadcast_arrays(1.0 * work, 1.0 * blocks)
    found = np.ones(work.shape)
    asked = np.flatnonzero((work < FULL * num_sms) & (blocks > _FEW_BLOCKS))
    if len(asked):
        work, blocks = work[asked], blocks[asked]
        most = np.minimum(min(MOST_SPLITS, num_sms), blocks)
        fills = np.array([_fills(work, num_sms, blocks, s, most) for s in range(1, int(most.max()) + 1)])
        found[asked] = np.argmax(fills >= _GOOD * fills.max(axis=0), axis=0) + 1.0
    return found


def _fills(work: np.ndarray, num_sms: int, blocks: np.ndarray, splits: int, most: np.ndarray) -> np.ndarray:
    """How full the waves of that many splits are; 0 for those that do not count."""
    counts = np.ones(work.shape, dtype=bool) if splits == 1 else np.ceil(blocks / splits) != np.ceil(
        blocks / (splits - 1)
    )  # fmt: skip
    waves = work * splits / num_sms
    fill: np.ndarray = np.where(counts & (splits <= most), waves / np.ceil(waves), 0.0)
    return fill


@lru_cache(maxsize=4096)
def _num_splits(work: float, num_sms: int, blocks: float) -> float:
    return float(num_splits(np.array([work]), num_sms, np.array([blocks]))[0])


def even_chunk(tiles: Number, keys: Number, most_ctas: float, page: Number = 1) -> Number:
    """Keys of a chunk when FlashInfer plans equal requests: as small as `most_ctas` allows.

    `tiles` are those of one KV head over all requests, each over `keys`. Source: FlashInfer, `scheduler.cuh`,
    `PrefillBinarySearchKVChunkSize`.
    """
    least = round_to_page(maximum(LEAST_CHUNK, page), page)
    parts = maximum(np.floor(most_ctas / tiles), 1.0)
    chunk = maximum(round_to_page(ceil_div(keys, parts), page), least)
    return chunk if is_array(chunk) else float(chunk)


def planned_chunk(tiles: np.ndarray, keys: np.ndarray, most_ctas: float, page: int = 1) -> float:
    """As `even_chunk`, of requests that differ: found by halving, as FlashInfer does; `tiles` of each request."""
    least = max(-(-LEAST_CHUNK // page), 1)
    low, high = least, max(int(np.ceil(keys.max() / page)), least)
    pages = np.ceil(keys / page)
    while low < high:
        middle = (low + high) // 2
        if (tiles * np.ceil(pages / middle)).sum() > most_ctas:
            low = middle + 1
        else:
            high = middle
    return float(low * page)


def round_to_page(keys: Number, page: Number) -> Number:
    """Whole pages."""
    return ceil_div(keys, page) * page
