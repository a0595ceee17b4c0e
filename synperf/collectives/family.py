"""Collectives beside the kernel families: each operation is one, under its own name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any

from ..kernels.base import Call
from .algorithms import EXPERTS
from .call import OPERATIONS, Collective

_OPERATION, _TOPK = "operation", "topk"


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveFamily:
    """The calls of one operation, whose name stands in the place of their field `operation`."""

    name: str
    call_type: type[Collective] = Collective
    by_one: tuple[tuple[str, str], ...] = ()

    def required(self) -> tuple[str, ...]:
        """Names of the fields that have no default; expert layers need their experts per token."""
        names = tuple(f.name for f in fields(Collective) if f.default is MISSING and f.name != _OPERATION)
        return (*names, _TOPK) if self.name in EXPERTS else names

    def field_names(self) -> tuple[str, ...]:
        """Names of all fields, in their order."""
        return tuple(f.name for f in fields(Collective) if f.name != _OPERATION)

    def make(self, values: Mapping[str, Any]) -> Call:
        """The call of these fields."""
        return Collective(operation=self.name, **values)


def collective(name: str) -> CollectiveFamily | None:
    """The operation of that name, or None."""
    return CollectiveFamily(name=name) if name in OPERATIONS else None
