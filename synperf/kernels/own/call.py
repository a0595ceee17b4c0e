"""The class of calls of a file: its fields are what `FIELDS` says, else what its functions read of `params`.

`FIELDS` has for every field `int`, a whole number that every call gives, or a default: a whole number, a truth value,
or for a field whose name ends in `dtype` a format. `dtype` is always among them, bf16 where the file says no other.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import MISSING, Field, field, fields, make_dataclass
from keyword import iskeyword
from typing import Any

from ...errors import FieldError
from ...hardware import DType
from ..base import Call
from ..fields import dtype_of, same_length, set_dtype, set_names, set_numbers, truth, whole
from .source import Source, shown

FIELDS = "FIELDS"
RESERVED = (  # what columns of tables mean something else by
    "engine", "kernel", "family", "gpu", "version", "source", "is_test", "biased",
    "efficiency", "limiter", "origin", "extrapolating", "outside", "assumptions", "versions",
)  # fmt: skip
_KIND = "kind"
_NUMBER, _TRUTH, _FORMAT = "number", "truth", "format"
_TYPES: Mapping[str, Any] = {_NUMBER: Any, _TRUTH: bool, _FORMAT: DType}
_RIGHT = "right would be int, or a default: a whole number from 1, True or False, a format where the name ends in dtype"


def call_type(source: Source, name: str) -> type[Any]:
    """The class of calls of a family.

    Raises:
        PluginError: a field is none.
    """
    columns = {one: _column(source, one, value) for one, value in {"dtype": "bf16", **_given(source)}.items()}
    launch = {part: (str | None, field(default=None, kw_only=True)) for part in ("engine", "kernel")}
    dtype = columns.pop("dtype")
    listed = [(one, kind, column) for one, (kind, column) in {**columns, "dtype": dtype, **launch}.items()]
    title = "".join(word.capitalize() for word in name.split("_"))
    own = {"__post_init__": _read, "__doc__": f"A call of {name}, or columns of one length of many."}
    return make_dataclass(title, listed, bases=(Call,), namespace=own, frozen=True, slots=True, kw_only=True)


def numbers(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a class of calls that are whole numbers, or columns of them."""
    return _of_kind(kind, _NUMBER)


def truths(kind: type[Any]) -> tuple[str, ...]:
    """Those that are true or false."""
    return _of_kind(kind, _TRUTH)


def formats(kind: type[Any]) -> tuple[str, ...]:
    """Those that are formats."""
    return _of_kind(kind, _FORMAT)


def _of_kind(kind: type[Any], wanted: str) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if f.metadata.get(_KIND) == wanted)


def _given(source: Source) -> Mapping[str, Any]:
    """What the file says of fields, else every name that a function reads of its `params`: whole numbers."""
    found = source.get(FIELDS)
    if found is None:
        attributes = (node for node in ast.walk(source.tree) if isinstance(node, ast.Attribute))
        own = [one for one in attributes if isinstance(one.value, ast.Name) and one.value.id == "params"]
        names = [one.attr for one in sorted(own, key=lambda one: (one.lineno, one.col_offset))]
        return {name: int for name in names if name != "dtype"}
    if not isinstance(found, Mapping) or not found:
        raise source.wrong(FIELDS, f"FIELDS is {shown(found)}; right would be such as {{'rows': int, 'dtype': 'bf16'}}")
    return found


def _column(source: Source, name: Any, value: Any) -> tuple[Any, Field[Any]]:
    """(type, field) of one entry of FIELDS."""
    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name) or name.startswith("_"):
        raise source.wrong(FIELDS, f"FIELDS has {shown(name)}; right would be names of lower case")
    if name in RESERVED or name.endswith(("_s", "_us", "_ms", "_ns")):
        raise source.wrong(FIELDS, f"FIELDS has {name}, which means something else in tables of calls; rename it")
    if value is int and not name.endswith("dtype"):
        return _TYPES[_NUMBER], _field(_NUMBER, MISSING)
    try:
        if name.endswith("dtype"):
            return _TYPES[_FORMAT], _field(_FORMAT, dtype_of(name, value))
        if isinstance(value, bool):
            return _TYPES[_TRUTH], _field(_TRUTH, value)
        return _TYPES[_NUMBER], _field(_NUMBER, _one(name, value))
    except FieldError as wrong:
        raise source.wrong(FIELDS, f"FIELDS: {wrong}; {_RIGHT}") from None


def _one(name: str, value: Any) -> int:
    if type(value) is not int:
        raise FieldError(f"{name} is {shown(value)}")
    return int(whole(name, value))


def _field(kind: str, default: Any) -> Any:
    return field(default=default, kw_only=True, metadata={_KIND: kind})


def _read(call: Any) -> None:
    """Reads the fields of a call, as every family does.

    Raises:
        FieldError: a field is not what it should be.
    """
    kind = type(call)
    were_plain = set_numbers(call, numbers(kind))
    for name in truths(kind):
        object.__setattr__(call, name, truth(name, getattr(call, name)))
    for name in formats(kind):
        set_dtype(call, name)
    set_names(call)
    if not were_plain:
        same_length(call, numbers(kind))
