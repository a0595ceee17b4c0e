"""Ways to predict that are not ours: a baseline exists because its module is in this folder and has a `RECIPE`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ..recipe import Recipe

__all__ = ["RECIPES"]

_MODULES = (import_module(f"{__name__}.{m.name}") for m in iter_modules(__path__) if not m.ispkg)
RECIPES: dict[str, Recipe] = {m.RECIPE.name: m.RECIPE for m in _MODULES if hasattr(m, "RECIPE")}
