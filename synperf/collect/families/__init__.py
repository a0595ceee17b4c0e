"""Families that torch can time: one exists because a module of this folder has it in its `TIMED`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from ...errors import UnknownNameError
from ..timed import Timed


@cache
def families() -> dict[str, Timed]:
    """Every family by its name."""
    modules = (import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__))
    return {timed.name: timed for module in modules for timed in module.TIMED}


def family(name: str) -> Timed:
    """The family of that name.

    Raises:
        UnknownNameError: torch times no such family here; the message lists the nearest or all.
    """
    if name not in families():
        raise UnknownNameError.among("family to collect", name, families())
    return families()[name]
