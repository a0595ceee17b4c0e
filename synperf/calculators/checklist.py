"""The check list of 24 items and the 16 traps, answered from a description of a workload: pass, fail or unknown.

`synperf analyze` answers the same from a trace; items, questions and limits are those of analysis/checklist.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..analysis.checklist import FAIL, PASS, UNKNOWN, items
from ..errors import FieldError, FileFormatError, UnknownNameError
from .checklist_rules import RULES

_FILE = Path(__file__).with_name("checklist_fields.toml")
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item or trap (`kind`). `reason` has the numbers, or says which fields would answer it."""

    key: str
    kind: str
    group: str
    title: str
    state: str
    reason: str
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """All items, then all traps, in order; counts are of both."""

    checks: tuple[Item, ...]
    passed: int
    failed: int
    unknown: int
    why: tuple[str, ...]
    advice: tuple[str, ...]


def checklist(description: Mapping[str, Any]) -> Checklist:
    """What a description passes; tables within it are only for order.

    Raises:
        FieldError: a value is not what its field takes.
        UnknownNameError: a field that no item asks for.
    """
    described = flat(description)
    for name in described:
        if name not in fields():
            raise UnknownNameError.among("field", name, fields())
    checks = tuple(_checked(item, described) for item in items())
    states = [one.state for one in checks]
    failed = [one for one in checks if one.state == FAIL]
    return Checklist(
        checks=checks,
        passed=states.count(PASS),
        failed=len(failed),
        unknown=states.count(UNKNOWN),
        why=tuple(dict.fromkeys(f"{one.title}: no, {one.reason}" for one in failed)) or (_nothing(states),),
        advice=tuple(dict.fromkeys(one.advice for one in failed))
        or ("describe more: unknown is not that all is well",),
    )


def _nothing(states: list[str]) -> str:
    return f"nothing that was described fails; {states.count(UNKNOWN)} of {len(states)} are unknown"


def fields() -> dict[str, tuple[str, ...]]:
    """Every field of a description, and the questions that ask for it."""
    found: dict[str, tuple[str, ...]] = {}
    for item in items():
        for name in _asked(item["key"]):
            found[name] = (*found.get(name, ()), item["asks"])
    return found


def read_description(path: str | Path) -> dict[str, Any]:
    """A description in TOML.

    Raises:
        FileFormatError: it is not TOML, or far too large.
        OSError: it cannot be read.
    """
    file = Path(path)
    if file.stat().st_size > _MOST_BYTES:
        raise FileFormatError(f"{file}: more than {_MOST_BYTES >> 20} MiB, so no description")
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{file}: not TOML ({error})") from None


def template() -> str:
    """A description with every field, commented out, and the questions that ask for it."""
    lines = [f"# {'; '.join(dict.fromkeys(asked))}\n# {name} =\n" for name, asked in fields().items()]
    return "\n".join(lines)


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def _how(key: str) -> Mapping[str, Any]:
    how: Mapping[str, Any] = _table()[key]
    return _how(how["as"]) if "as" in how else how


def _asked(key: str) -> Iterable[str]:
    how = _how(key)
    return how.get("fields") or (how["field"],)


def flat(description: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of all tables of a description.

    Raises:
        FieldError: one stands in two of them.
    """
    found: dict[str, Any] = {}
    for name, value in description.items():
        inner = flat(value) if isinstance(value, Mapping) else {name: value}
        twice = next((one for one in inner if one in found), None)
        if twice is not None:
            raise FieldError(f"{twice} is described twice; right would be once")
        found |= inner
    return found


def _checked(item: Mapping[str, Any], described: Mapping[str, Any]) -> Item:
    how = _how(item["key"])
    missing = [name for name in _asked(item["key"]) if name not in described]
    if missing:
        holds, reason = None, f"not described: {', '.join(missing)}"
    else:
        holds, reason = RULES[how["rule"]](described, {**how, **item})
    return Item(
        key=item["key"],
        kind=item["kind"],
        group=item["group"],
        title=item["asks"],
        state=UNKNOWN if holds is None else PASS if holds else FAIL,
        reason=reason,
        advice=how["advice"],
    )
