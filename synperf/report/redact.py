"""An analysis that may be shown to anyone: without names of programs, files and groups, and without metadata.

A name becomes a pseudonym that depends on it alone, so that it is the same in every report; who guesses a name can
check it. What stays is numbers, names of GPUs, and the words of synperf itself: families, causes, advice. Text fields
that are not known to hold such words count as names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from hashlib import sha256
from typing import Any

from ..analysis.finding import named
from ..analysis.whole import Analysis
from ..traces.events import Device

_OWN = {
    "format", "found_by", "family", "cause", "direction", "host_memory", "question", "shapes", "formats", "form",
    "dtype", "math", "bound", "limiters", "key", "assumed", "tool", "state", "kind",
}  # fmt: skip
_SENTENCES = {"title", "evidence", "advice", "text", "reason", "verdict"}  # in which names may stand
_OF_PROFILER = re.compile(r"ProfilerStep#\d+|step \d+")
_SHORTEST = 4  # letters of a name that is looked for in sentences


def pseudonym(name: str) -> str:
    """`name-3f2a9c01`; steps keep the names that a profiler, or synperf, gave them."""
    if not name or _OF_PROFILER.fullmatch(name):
        return name
    return f"name-{sha256(name.encode()).hexdigest()[:8]}"


def redacted(found: Analysis) -> Analysis:
    """The same numbers under pseudonyms; the check list is gone through while kernels still have their names."""
    found = replace(found, gone_through=found.checks)
    names: dict[str, None] = {}
    _walk(found, "", lambda name: str(names.setdefault(name) or name), str)
    spelled = {named(name): name for name in names} | {name: name for name in names}
    known = sorted((name for name in spelled if len(name) >= _SHORTEST), key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, known)) or r"(?!)")

    def hidden(text: str) -> str:
        return pattern.sub(lambda match: pseudonym(spelled[match[0]]), text)

    made: Analysis = _walk(found, "", pseudonym, hidden)
    return made


def _walk(value: Any, field: str, name: Callable[[str], str], sentence: Callable[[str], str]) -> Any:
    """The value with `name` applied to every name in it, and `sentence` to every sentence; mappings are emptied."""
    if isinstance(value, Device | Enum):
        return value
    if isinstance(value, str):
        return value if field in _OWN else sentence(value) if field in _SENTENCES else name(value)
    if isinstance(value, Mapping):
        return {}
    if isinstance(value, tuple) and hasattr(value, "_fields"):  # a NamedTuple
        named_ones = zip(value._fields, value, strict=True)
        return type(value)(*(_walk(one, own, name, sentence) for own, one in named_ones))
    if isinstance(value, tuple):
        return tuple(_walk(one, field, name, sentence) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _walk(getattr(value, f.name), f.name, name, sentence) for f in fields(value)})
    return value
