"""What a pattern of accesses takes of the banks of shared memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...hardware.capability import ComputeCapability
from .conflicts import WORD, Conflicts, conflicts
from .pattern import Pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Padding:
    """`pad` elements more in every row leave so many wavefronts; `extra_bytes` where rows are known."""

    pad: int
    pitch: int
    degree: int
    wavefronts: int
    extra_bytes: int | None
    extra_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Banks:
    """Counts are sums over all requests.

    `degree` is the most different words of one bank in one phase of an access: 1 is free of conflicts. `wavefronts`
    are the turns that all phases take, of which `minimum_wavefronts` would do. `histogram` has the words of each bank
    in the worst phase; `addresses` and `lanes` are of the first request. With `aligned` false the access faults.
    """

    degree: int
    wavefronts: int
    minimum_wavefronts: int
    extra_wavefronts: int
    slowdown: float
    requests: int
    active_lanes: int
    access_bytes: int
    aligned: bool
    num_banks: int
    phase_lanes: int
    unique_bytes: int  # of the first request
    histogram: tuple[int, ...]
    addresses: tuple[int, ...]
    lanes: tuple[int, ...]
    padding: Padding | None = None
    swizzle: str | None = None
    why: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()


def of_pattern(pattern: Pattern, able: ComputeCapability) -> Banks:
    """The wavefronts, without their reasons."""
    found: Conflicts = conflicts(pattern, able)
    total, least = int(found.wavefronts.sum()), found.minimum * pattern.num_requests
    return Banks(
        degree=found.degree,
        wavefronts=total,
        minimum_wavefronts=least,
        extra_wavefronts=total - least,
        slowdown=total / least,
        requests=pattern.num_requests,
        active_lanes=len(pattern.lanes),
        access_bytes=pattern.access_bytes,
        aligned=pattern.misaligned is None,
        num_banks=found.num_banks,
        phase_lanes=found.phase_lanes,
        unique_bytes=len(np.unique(pattern.pieces()[0])) * pattern.piece_bytes,
        histogram=tuple(found.histogram.tolist()),
        addresses=tuple(pattern.addresses[0].tolist()),
        lanes=tuple(pattern.lanes),
    )


def turns(found: Banks) -> dict[tuple[int, int], list[tuple[int, list[int]]]]:
    """The words of the first request by (phase, bank), in the order of their addresses, each with the lanes that access
    it: the bank answers for one of them a turn.
    """
    words: dict[tuple[int, int], dict[int, list[int]]] = {}
    for address, lane in zip(found.addresses, found.lanes, strict=True):
        for word in range(address // WORD, (address + found.access_bytes - 1) // WORD + 1):
            key = (lane // found.phase_lanes, word % found.num_banks)
            words.setdefault(key, {}).setdefault(word, []).append(lane)
    return {key: sorted(lanes.items()) for key, lanes in words.items()}
