"""What is asked for, as words on the command line or in Python, and what makes two collections the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ..errors import FieldError
from .families import family
from .timed import FORMATS, STATES, Value

DEFAULT_FORMAT = {"cpu": "fp32", "cuda": "bf16"}
MOST_MINUTES = 7 * 24 * 60.0
_TRUTHS = {"true": True, "false": False}


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A collection: the same request on the same device goes on with the same plan.

    `families` are names, each with the values of fields that replace those of its grid.
    """

    families: Mapping[str, Mapping[str, list[Value]]]
    dtypes: tuple[str, ...]
    minutes: float
    seed: int
    l2: tuple[str, ...]
    device: str  # cpu or cuda

    def __post_init__(self) -> None:
        if not self.families:
            raise FieldError("family: none given; right would be a family such as gemm")
        for dtype in self.dtypes:
            if dtype not in FORMATS:
                raise FieldError(f"dtype must be one of {', '.join(FORMATS)}, got {dtype!r}")
        if not 0 < self.minutes <= MOST_MINUTES:
            raise FieldError(f"minutes must be above 0 and at most {MOST_MINUTES:g}, got {self.minutes:g}")
        for state in self.l2:
            if state not in STATES:
                raise FieldError(f"l2 must be {' or '.join(STATES)}, got {state!r}")
        for name, given in self.families.items():
            for dtype in self.dtypes:
                family(name).require({field: tuple(values) for field, values in given.items()}, dtype)

    def difference(self, other: Request) -> str:
        """The first thing in which another request differs, as a clause; empty where none does."""
        for name in self.__struct_fields__:
            own, others = _shown(getattr(self, name)), _shown(getattr(other, name))
            if own != others:
                return f"{name} {others}, not {own}"
        return ""


def parse_device(name: str | None) -> tuple[str, int]:
    """(cpu or cuda, which of them) that `cpu`, `cuda` or `cuda:1` names; without a name, the first GPU.

    Raises:
        FieldError: it is no such name.
    """
    found = re.fullmatch(r"(cpu|cuda)(?:(?<=cuda):(\d{1,3}))?", "cuda" if name is None else name, re.ASCII)
    if found is None:
        raise FieldError(f"device must be cpu, cuda or cuda:N, got {name!r}")
    return found[1], int(found[2] or 0)


def _shown(value: Any) -> str:
    """A field of a request, as on the command line."""
    if isinstance(value, Mapping):
        return " ".join(" ".join((name, *map(_words, value[name].items()))) for name in sorted(value))
    return ",".join(value) if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else str(value)


def _words(field: tuple[str, list[Value]]) -> str:
    name, values = field
    return f"{name}={','.join(str(value).lower() for value in values)}"


def parse_families(words: Iterable[str]) -> dict[str, dict[str, list[Value]]]:
    """Families and fields from words: `gemm n=4096,8192 k=4096 softmax`; fields are of the family before them.

    Raises:
        UnknownNameError: no such family.
        FieldError: a field comes before any family, or a family or a field comes twice.
    """
    found: dict[str, dict[str, list[Value]]] = {}
    for word in words:
        name, equals, values = word.partition("=")
        if not equals:
            if family(name).name in found:
                raise FieldError(f"{name} is given twice")
            found[name] = own = {}
        elif not found:
            raise FieldError(f"family: {word!r} is KEY=VALUE; the family comes before it, such as gemm")
        elif name in own:
            raise FieldError(f"{name} is given twice")
        else:
            own[name] = list(dict.fromkeys(map(_value, values.split(","))))
    return found


def _value(text: str) -> Value:
    text = text.strip().lower()
    if text in _TRUTHS:
        return _TRUTHS[text]
    return int(text) if text.isascii() and text.isdigit() else text
