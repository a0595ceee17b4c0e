"""TOML out of dictionaries of numbers, text and tables, in their order."""

from __future__ import annotations

import json
import re
from typing import Any

Table = dict[str, Any]
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def render(table: Table, title: str) -> str:
    """A document with a comment as title. Tables in tables are written inline."""
    lines = [f"# {title}"]
    lines += [_line(key, value) for key, value in table.items() if not isinstance(value, dict)]
    for name, inner in table.items():
        if isinstance(inner, dict):
            lines += ["", f"[{_key(name)}]", *(_line(key, value) for key, value in inner.items())]
    return "\n".join(lines) + "\n"


def _line(key: str, value: Any) -> str:
    return f"{_key(key)} = {_value(value)}"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(_line(key, inner) for key, inner in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
