"""A metric by the names of nvprof and of Nsight Compute, as text and as JSON."""

from __future__ import annotations

from typing import Any

from ..analysis.ncu_metrics import Translation
from .jsonout import plain
from .text import labelled

_COMBINED = {"sum": " + ", "ratio": " / ", "any": " or, in other versions, "}


def to_dict(one: Translation) -> dict[str, Any]:
    """Every spelling, and by what they make the value of nvprof."""
    found: dict[str, Any] = plain(one)
    return found


def to_text(one: Translation) -> str:
    """The names of both, and how the value of nvprof is had from the newer ones."""
    formula = _COMBINED[one.combine].join(one.ncu)
    lines = [
        ("nvprof", ", ".join(one.nvprof)),
        ("Nsight Compute", formula + (f", times {one.factor:g}" if one.factor != 1 and formula else "")),
        ("per issue", ", ".join(one.ratio)),
        ("note", one.note),
    ]
    return labelled(lines)
