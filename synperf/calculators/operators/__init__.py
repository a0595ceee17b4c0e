"""Operators that are no kernel family: one exists because its module is in this folder and has `OPERATORS`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from .base import Operator

__all__ = ["Operator", "of_type", "operators"]


@cache
def operators() -> dict[str, Operator]:
    """Every operator by its name."""
    modules = (import_module(f"{__name__}.{one.name}") for one in iter_modules(__path__))
    return {one.name: one for module in modules for one in getattr(module, "OPERATORS", ())}


def of_type(call_type: type) -> Operator | None:
    """The operator whose calls have this class, or None."""
    return next((one for one in operators().values() if one.call_type is call_type), None)
