"""A conclusion: what, the numbers that say so, how much time it could return, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..light_classes import dataclass
from ..units import format_time

_NS = 1e-9
_LETTERS = 60  # of a name that is shown: those of C++ templates go on for hundreds


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


def told(time_ns: int) -> str:
    """A time in words, as evidence has it: four digits."""
    return format_time(time_ns * _NS, 4)


def named(name: str) -> str:
    """A name as evidence and text have it: the rest of a long one is cut off."""
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"


def drawn_together(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding for each title, that of the rank it costs most; the largest saving first, unknown ones last."""
    by_title: dict[str, list[Finding]] = {}
    for finding in findings:
        by_title.setdefault(finding.title, []).append(finding)
    kept = [_one_of(group) for group in by_title.values()]
    return tuple(sorted(kept, key=lambda f: (f.saving_ns is None, -(f.saving_ns or 0), f.title)))


def _one_of(group: list[Finding]) -> Finding:
    most = max(group, key=lambda finding: finding.saving_ns or 0)
    if len(group) == 1:
        return most
    return replace(most, evidence=f"on {len(group)} devices, most on that of rank {most.rank}: {most.evidence}")
