"""A check list of 24 items, and 16 traps, answered from a trace: pass, fail, or unknown with the reason.

The items, what each is held against, and what would answer those that no timeline can, are in checklist.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..light_classes import dataclass
from .checks import LOOKS
from .facts import Facts

PASS, FAIL, UNKNOWN = "pass", "fail", "unknown"
_FILE = Path(__file__).with_name("checklist.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One item. `kind` is item or trap, `group` gpu, tensor, inference or distributed; `reason` has the numbers."""

    key: str
    kind: str
    group: str
    title: str
    state: str
    reason: str


@cache
def items() -> tuple[Mapping[str, Any], ...]:
    """Every item and trap, with its kind."""
    table = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return tuple({**one, "kind": kind} for kind in ("item", "trap") for one in table[kind])


def checklist(facts: Facts) -> tuple[Check, ...]:
    """All of them, in order."""
    return tuple(_checked(item, facts) for item in items())


def _checked(item: Mapping[str, Any], facts: Facts) -> Check:
    holds, reason = LOOKS[item["look"]](facts, item) if "look" in item else (None, item["unknown"])
    state = UNKNOWN if holds is None else PASS if holds else FAIL
    return Check(
        key=item["key"], kind=item["kind"], group=item["group"], title=item["asks"], state=state, reason=reason
    )
