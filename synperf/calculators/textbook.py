"""Worked examples and claims that are in print, with what is exact and why they differ.

Entries are those of textbook_entries.toml; every exact number is computed when it is asked for, by the calculator or
the part of the engine that answers such a question (`printed/`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import UnknownNameError
from .printed.figure import Exact

_FILE = Path(__file__).with_name("textbook_entries.toml")
VERDICTS = ("right", "imprecise", "wrong", "unsupported")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number: as it is printed, None where it is not, and as it is."""

    name: str
    printed: float | str | None
    exact: float | str
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One claim; `reason` says why the printed and the exact differ, or where the claim holds."""

    keys: tuple[str, ...]
    topic: str
    claim: str
    verdict: str
    figures: tuple[Figure, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Textbook:
    """The claims that were asked for; `counts` are of their verdicts."""

    claims: tuple[Claim, ...]
    counts: Mapping[str, int]
    why: tuple[str, ...]
    advice: tuple[str, ...]


def textbook(keys: Sequence[str] = ()) -> Textbook:
    """All claims, or those of these keys (`E26`, `W-70`) and topics (`training`).

    Raises:
        UnknownNameError: no such key or topic.
    """
    asked = [key.strip().upper() for key in keys]
    known = {*names(), *(row["topic"].upper() for row in _rows())}
    for key in asked:
        if key not in known:
            raise UnknownNameError.among("claim", key[:40], (*names(), *{row["topic"] for row in _rows()}))
    rows = [row for row in _rows() if not asked or {*row["keys"], row["topic"].upper()} & set(asked)]
    claims = tuple(map(_claim, rows))
    verdicts = [one.verdict for one in claims]
    return Textbook(
        claims=claims,
        counts={verdict: verdicts.count(verdict) for verdict in VERDICTS},
        why=tuple(one.reason for one in claims),
        advice=("compute it for your own numbers: each claim names what it is about, `synperf --help` the calculator",),
    )


def names() -> tuple[str, ...]:
    """Every key, in the order of the entries."""
    return tuple(key for row in _rows() for key in row["keys"])


@cache
def _rows() -> tuple[Mapping[str, Any], ...]:
    return tuple(tomllib.loads(_FILE.read_text(encoding="utf-8"))["entry"])


def _claim(row: Mapping[str, Any]) -> Claim:
    exact = _exact(row["figures"]) if "figures" in row else {}
    printed = row.get("printed", {})
    return Claim(
        keys=tuple(row["keys"]),
        topic=row["topic"],
        claim=row["claim"],
        verdict=row["verdict"],
        figures=tuple(
            Figure(name=name, printed=printed.get(name), exact=one.value, unit=one.unit) for name, one in exact.items()
        ),
        reason=row["why"],
    )


def _exact(path: str) -> dict[str, Exact]:
    module, _, function = path.partition(".")
    found: dict[str, Exact] = getattr(import_module(f"{__package__}.printed.{module}"), function)()
    return found
