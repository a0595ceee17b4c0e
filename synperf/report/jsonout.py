"""Results as one JSON document: SI units, stable keys, no NaN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from math import isfinite
from typing import Any

import msgspec
import numpy as np

from ..errors import FieldError

_AS_THEY_ARE = (str, int, bool, type(None))  # most values of a document, so they are asked for first


def to_json(value: Any) -> str:
    """The document, indented by two spaces.

    Raises:
        FieldError: a number in it is not finite; the message has its key.
    """
    return msgspec.json.format(msgspec.json.encode(plain(value)), indent=2).decode()


def plain(value: Any, where: str = "result") -> Any:
    """The value made of dicts, lists, text, numbers and truth values only.

    Raises:
        FieldError: a number in it is not finite.
    """
    if type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist(), where)
    if isinstance(value, Enum):
        return plain(value.value, where)
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(one, f"{where}.{key}") for key, one in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):  # a NamedTuple
        return {name: plain(one, f"{where}.{name}") for name, one in zip(value._fields, value, strict=True)}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one, where) for one in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name), f"{where}.{f.name}") for f in fields(value)}
    if isinstance(value, float) and not isfinite(value):
        raise FieldError(f"{where} is {value}, not a number that JSON can hold")
    return value
