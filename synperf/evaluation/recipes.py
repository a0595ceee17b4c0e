"""The recipes that an evaluation fits, by name: ours, our ablations, and every baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from ..errors import FieldError, MissingExtraError, UnknownNameError
from ..training.baselines import RECIPES
from ..training.recipe import Recipe
from .general import general
from .splits import FEW_SHOT, TEST_FILE, UNSEEN

HYBRID, GENERAL, NO_NETWORK, ROOFLINE = "hybrid", "general", "no_network", "roofline"
ABLATIONS = {"no_memory": ("memory",), "no_math": ("math",)}
ALL_DEFAULT = "all"
OURS = (HYBRID, GENERAL, NO_NETWORK, *ABLATIONS)


def names() -> tuple[str, ...]:
    """Every recipe, ours first."""
    return (*OURS, *sorted(RECIPES))


def defaults(split: str, family: str = "gemm") -> tuple[str, ...]:
    """Our recipe for a split, and every baseline that fits the family; few rows of a GPU correct our recipe alone."""
    if split == FEW_SHOT:
        return (GENERAL,)
    baselines = sorted(name for name, recipe in RECIPES.items() if recipe.fits(family))
    return (GENERAL if split in UNSEEN and split != TEST_FILE else HYBRID, *baselines)


def named(split: str, chosen: Iterable[str] = (), family: str = "gemm") -> tuple[Recipe, ...]:
    """The recipes of these names, or the default ones, which `all` stands for too; each once.

    Raises:
        UnknownNameError: there is no such recipe.
        FieldError: it knows GPUs by name, and the split has some that it never saw.
        MissingExtraError: the extra [train] is not installed.
    """
    given = tuple(chosen) or (ALL_DEFAULT,)
    usual = defaults(split, family)
    wanted = dict.fromkeys(name for one in given for name in (usual if one == ALL_DEFAULT else (one,)))
    for name in wanted:
        if name not in names():
            raise UnknownNameError(f"recipe: {UnknownNameError.among('recipe', name, names())}")
        if name == HYBRID and split in UNSEEN and split != TEST_FILE:
            raise FieldError(f"recipe: {name} knows the GPUs it was fitted to by name; for {split}, use {GENERAL}")
    return tuple(_made(name, split) for name in wanted)


def _made(name: str, split: str) -> Recipe:
    """A recipe by name; our ablations know GPUs by name where the recipe beside them does.

    Where some GPUs have training rows and others none, ours is two networks: one for each.
    """
    if name in RECIPES:
        return RECIPES[name]
    if (name, split) == (HYBRID, TEST_FILE):
        both: Recipe = _learned("shipped")(name)
        return both
    if name == GENERAL:
        return general()
    if name == NO_NETWORK:
        found: Recipe = _learned("base_alone")()
        return found
    made: Recipe = _learned("hybrid")(name, known=split not in UNSEEN, without=ABLATIONS.get(name, ()))
    return made


def _learned(function: str) -> Callable[..., Any]:
    """A function of the module that needs torch."""
    try:
        found: Callable[..., Any] = getattr(import_module("synperf.training.learned.recipe"), function)
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of("training", "train") from missing
    return found
