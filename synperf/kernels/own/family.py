"""A file -> a kernel family.

`decompose(params, gpu)` gives the tasks, `scheduling_policy()` is "HW" (one CTA a task, in their order) or "SW"
(persistent CTAs, one per SM, tasks at a static stride). Of identical tasks both give the busiest SM as many.
May have `NAME`, `FIELDS`, `EXAMPLE`, and of the useful work `flop(params)` and `compulsory_bytes(params)`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from ...errors import FieldError
from ..base import KernelFamily
from .call import call_type, numbers
from .functions import SOFTWARE, Functions
from .source import RIGHT, Source, shown
from .work import COMPULSORY_BYTES, DECOMPOSE, FLOP, Work

POLICY = "scheduling_policy"
POLICIES = ("HW", SOFTWARE)
EXAMPLE = "EXAMPLE"
EXTENT = 1024  # of a number field of the example, where the file has none
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")  # it is part of the names of files and networks


def family_of(source: Source, name: str | None = None) -> KernelFamily:
    """The family that a file describes, under the name of its entry point, its own or that of the file.

    Raises:
        PluginError: it lacks a function, or one of its constants is not what it should be.
    """
    for function in (DECOMPOSE, POLICY):
        if source.function(function) is None:
            raise source.wrong(function, f"there is no {function}; {RIGHT}")
    for function in (FLOP, COMPULSORY_BYTES):
        source.function(function)
    name = name or source.get("NAME", Path(source.path).stem)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise source.wrong("NAME", f"the family is called {shown(name)}; right would be a NAME of a-z, 0-9 and _")
    kind = call_type(source, name)
    own = Functions(source=source, work=Work(source=source, policy=_policy(source)))
    return KernelFamily(
        name=name,
        call_type=kind,
        decompose=own.decompose,
        flop=own.flop,
        compulsory_bytes=own.compulsory_bytes,
        launch=own.launch,
        assumptions=own.assumptions,
        dram_bytes=own.dram_bytes,
        example=_example(source, kind),
        summary=_summary(source),
        inputs=own.inputs,
        shape=numbers(kind),
        digest=source.digest,
    )


def _policy(source: Source) -> str:
    found = source.run(POLICY)
    if found not in POLICIES:
        raise source.wrong(POLICY, f"{POLICY} gives {shown(found)}; right would be 'HW' or 'SW'")
    return str(found)


def _summary(source: Source) -> str:
    """The first line of the file's docstring, without its full stop."""
    text = ast.get_docstring(source.tree) or f"a family of {source.name}"
    return text.partition("\n")[0].strip().rstrip(".")


def _example(source: Source, kind: type[Any]) -> Any:
    """A call that tells what the inputs of a network are."""
    given = source.get(EXAMPLE, {})
    if not isinstance(given, Mapping):
        raise source.wrong(EXAMPLE, f"EXAMPLE is {shown(given)}; right would be such as {{'rows': 4096}}")
    needed = {f.name: EXTENT for f in fields(kind) if f.default is MISSING}
    try:
        return kind(**{**needed, **given})
    except (FieldError, TypeError) as wrong:
        raise source.wrong(EXAMPLE, f"EXAMPLE: {wrong}") from None
