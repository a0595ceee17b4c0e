"""Bandwidths of a collective, as nccl-tests names them, and what really crosses a link.

Source: NVIDIA/nccl-tests, doc/PERFORMANCE.md.
"""

from __future__ import annotations

from ..numeric import Number
from .algorithms import wire_share


def algorithm_bytes_per_s(size: Number, time_s: Number) -> Number:
    """`algbw`: the buffer over the time."""
    return size / time_s


def bus_share(operation: str, ranks: int) -> float:
    """What `algbw` is multiplied by to be `busbw`, whatever the algorithm: 2(n-1)/n for an all-reduce."""
    if operation == "all_reduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if operation in ("all_gather", "reduce_scatter", "all_to_all") else 1.0


def bus_bytes_per_s(operation: str, size: Number, ranks: int, time_s: Number) -> Number:
    """`busbw`: the rate of a link, had the operation run around a ring. It may be above it where a switch reduces."""
    return algorithm_bytes_per_s(size, time_s) * bus_share(operation, ranks)


def wire_bytes_per_s(operation: str, algorithm: str, size: Number, ranks: int, time_s: Number) -> Number:
    """What crosses the link of a GPU in one direction each second."""
    return algorithm_bytes_per_s(size, time_s) * wire_share(operation, algorithm, ranks)
