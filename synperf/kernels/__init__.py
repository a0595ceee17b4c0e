"""Kernel families: a family exists because its module is in this folder and has a `FAMILY`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from ..errors import UnknownNameError
from .base import KernelFamily

__all__ = ["KernelFamily", "families", "family"]


@cache
def _module_names() -> tuple[str, ...]:
    return tuple(sorted(m.name for m in iter_modules(__path__) if m.name != "base" and not m.ispkg))


@cache
def families() -> dict[str, KernelFamily]:
    """Every family by its name."""
    found = (getattr(import_module(f"{__name__}.{name}"), "FAMILY", None) for name in _module_names())
    return {f.name: f for f in found if f is not None}


@cache
def family(name: str) -> KernelFamily:
    """The family of that name; its module alone is imported when the module is called like the family.

    Raises:
        UnknownNameError: the message lists the nearest or all families.
    """
    if name in _module_names():
        found = getattr(import_module(f"{__name__}.{name}"), "FAMILY", None)
        if isinstance(found, KernelFamily) and found.name == name:
            return found
    if name not in families():
        raise UnknownNameError.among("kernel family", name, families())
    return families()[name]
