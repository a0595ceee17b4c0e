"""A conclusion: what, the numbers that say so, how much time it could return, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One conclusion. `saving_ns` is an upper bound over the whole trace of one rank, None where it is not known.

    `ranges` are where to look: starts and ends on the clock of the trace.
    """

    title: str
    evidence: str
    advice: str
    saving_ns: int | None = None
    rank: int | None = None
    ranges: tuple[tuple[int, int], ...] = ()


def sorted_by_saving(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The largest saving first, unknown ones last."""
    return tuple(sorted(findings, key=lambda f: (f.saving_ns is None, -(f.saving_ns or 0), f.title)))
