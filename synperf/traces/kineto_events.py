"""Kineto's events and their arguments as objects, all of one type, so that they are decoded before their kind is known.

Source: "Trace Event Format", Google, 2016; the writers of pytorch/kineto.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw

from .kineto_fields import OF_ARGS, OF_EVENT, Field

Value = int | float | str | None  # numbers may be written as text
NOTHING = Raw(b"")  # of a field that is not there


def _struct(fields: Sequence[Field], *others: tuple[str, Any, Any], frozen: bool = False) -> Any:
    """A type that has these fields, and others of a name, a type and a default."""
    types = {"s": str, "d": Raw, "r": Raw}
    given = (
        (one.name, types.get(one.kind, Value), msgspec.field(name=one.key, default=_default(one))) for one in fields
    )
    return msgspec.defstruct("Fields", [*given, *others], gc=False, frozen=frozen)


def _default(field: Field) -> Any:
    return NOTHING if field.is_raw else field.missing


class Args(_struct(OF_ARGS, frozen=True), gc=False, frozen=True):  # type: ignore[misc, call-arg]
    """The arguments of an event."""


NO_ARGS = Args()


class Event(_struct(OF_EVENT, ("args", Args, NO_ARGS)), gc=False):  # type: ignore[misc, call-arg]
    """One event."""
