"""What the columns of a table mean: fields of a family, `family` and `gpu`, results, or the user's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from ..errors import FieldError
from ..kernels import KernelFamily, families

NUMBERS = ("time_s", "low_s", "high_s", "floor_s", "efficiency")
TEXTS = ("limiter", "origin")
LISTS = ("outside", "assumptions", "versions")  # joined by `;` where a cell holds text only
RESULTS = ("gpu", "engine", "kernel", *NUMBERS, *TEXTS, "extrapolating", *LISTS)
FILLED = ("family", "gpu", "engine", "kernel")  # columns that the input may have too: only empty cells are filled in


def number_fields(kind: KernelFamily) -> tuple[str, ...]:
    """Fields that take an array for many calls: those annotated `Any`. The others tell groups of rows apart."""
    return tuple(f.name for f in fields(kind.call_type) if f.type in (Any, "Any"))


def check_results(names: Iterable[str]) -> None:
    """Checks that no column would be overwritten.

    Raises:
        FieldError: a column has the name of a result.
    """
    for name in names:
        if name in RESULTS and name not in FILLED:
            raise FieldError(f"column {name} is one of the results; rename it in the input")


def check_spelling(names: Iterable[str], kind: KernelFamily) -> None:
    """Checks that no column looks like a misspelled field of the family; all other columns are the user's own.

    Raises:
        FieldError: the message has the column and the field that it resembles.
    """
    known = {_bare(name): name for name in (*kind.field_names(), "family", "gpu")}
    for name in names:
        near = get_close_matches(_bare(name), known, n=1, cutoff=0.8)
        if near and known[near[0]] != name and not _is_field(name):
            field = known[near[0]]
            raise FieldError(f"column {name!r} looks like the field {field}; rename it to that or to something else")


def _bare(name: str) -> str:
    """A name without case and separators."""
    return "".join(c for c in name.lower() if c.isalnum())


def _is_field(name: str) -> bool:
    """Whether some family has a field of that name."""
    return any(name in kind.field_names() for kind in families().values())
