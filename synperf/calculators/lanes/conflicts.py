"""Banks of shared memory: how many wavefronts an access takes, which is how often its busiest bank has to answer.

A word of 4 bytes is in bank (address / 4) mod 32; each bank answers for one word a clock, to all lanes that read it.
One phase of an access moves at most a word of every bank: 32 lanes of 4 bytes or less, 16 of 8, 8 of 16. Source:
NVIDIA, CUDA C++ Programming Guide, "Shared Memory"; phases of wide accesses: developer forum, topic 77228.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...hardware.capability import ComputeCapability, major_minor
from .pattern import Pattern

WORD = 4  # bytes of one bank a clock. Source: CUDA C++ Programming Guide, "Shared Memory"
_PAIRING = 7  # the major compute capability of Volta and Turing
_PAIRED_BYTES = 16
Counts = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Conflicts:
    """Wavefronts of each request, and the least that its phases take; words of each bank in the worst phase.

    `words` are those of the first request: (phase, bank, turn, lanes), in which the turns of a bank are its words.
    """

    num_banks: int
    phase_lanes: int
    is_paired: bool
    wavefronts: Counts
    minimum: int
    degree: int
    histogram: Counts


def num_banks(able: ComputeCapability) -> int:
    """Banks of an SM's shared memory."""
    return able.shared_bytes_per_clk_per_sm // WORD


def conflicts(pattern: Pattern, able: ComputeCapability) -> Conflicts:
    """What a pattern takes of the banks."""
    banks = num_banks(able)
    lanes, is_paired = phase_lanes(pattern, able)
    phases, words = _words(pattern, lanes)
    per_bank = _per_bank(phases, words, banks)  # requests x phases x banks
    busiest = per_bank.max(axis=2)
    request, phase = np.unravel_index(int(busiest.argmax()), busiest.shape)
    return Conflicts(
        num_banks=banks,
        phase_lanes=lanes,
        is_paired=is_paired,
        wavefronts=busiest.sum(axis=1),
        minimum=len(np.unique(phases)),
        degree=int(busiest.max()),
        histogram=per_bank[request, phase],
    )


def phase_lanes(pattern: Pattern, able: ComputeCapability) -> tuple[int, bool]:
    """Lanes of one phase, and whether they are twice as many because pairs of lanes read the same.

    On 7.x a phase of 16-byte loads has 16 lanes where lanes t and t ^ 1, or t and t ^ 2, read one address.
    Source: NVIDIA developer forum, topic 77228.
    """
    lanes = min(able.warp_size, num_banks(able) * WORD // pattern.access_bytes)
    paired = major_minor(able.key)[0] == _PAIRING and pattern.access_bytes == _PAIRED_BYTES and _in_pairs(pattern)
    return (2 * lanes if paired else lanes), paired


def _in_pairs(pattern: Pattern) -> bool:
    places = {lane: at for at, lane in enumerate(pattern.lanes)}
    for apart in (1, 2):
        other = [places[lane ^ apart] for lane in pattern.lanes if lane ^ apart in places]
        if len(other) == len(pattern.lanes) and np.array_equal(pattern.addresses, pattern.addresses[:, other]):
            return True
    return False


def _words(pattern: Pattern, lanes: int) -> tuple[Counts, Counts]:
    """The phase and the words of each access: a number for each lane and word, and a row for each request."""
    count = -(-pattern.access_bytes // WORD)
    words = pattern.addresses[:, :, None] // WORD + np.arange(count, dtype=np.int64)
    phases = np.repeat(np.array(pattern.lanes, dtype=np.int64) // lanes, count)
    return phases, words.reshape(pattern.num_requests, -1)


def _per_bank(phases: Counts, words: Counts, banks: int) -> Counts:
    """Different words of each bank, in each phase of each request."""
    requests, num_phases = len(words), int(phases.max()) + 1
    rows = np.arange(requests, dtype=np.int64)[:, None] * num_phases + phases
    different = np.unique(np.stack([rows, words], axis=-1).reshape(-1, 2), axis=0)
    found = np.bincount(different[:, 0] * banks + different[:, 1] % banks, minlength=requests * num_phases * banks)
    return found.reshape(requests, num_phases, banks)


def degree_of_stride(between_words: Any, banks: int = 32) -> Any:
    """How many lanes of a full warp meet in a bank, of accesses of 4 bytes that lie so many words apart; or of columns.

    Lane i is in bank i s mod 32, so gcd(s, 32) lanes share one; lanes that read one word share it without a conflict.
    """
    return np.where(np.asarray(between_words) == 0, 1, np.gcd(between_words, banks))
