"""What points have in common: their stack, family and recipe, and how near their loads are."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ...measurements.points import Points

ENGINE = ("engine",)
STACK = ("engine", "gpu", "source")
FAMILY = (*STACK, "family")
FORMAT = (*FAMILY, "format")
RECIPE = (*FORMAT, "tp", "ep")
VERSION = (*RECIPE, "version")
LEVELS = (ENGINE, STACK, FAMILY)
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labels:
    """Columns of one length, a row for each point; `loads` are octaves of concurrency, prompt, answer, tp and ep."""

    engine: npt.NDArray[Any]
    gpu: npt.NDArray[Any]
    source: npt.NDArray[Any]
    family: npt.NDArray[Any]
    format: npt.NDArray[Any]
    version: npt.NDArray[Any]
    tp: npt.NDArray[Any]
    ep: npt.NDArray[Any]
    loads: npt.NDArray[np.float64]

    @classmethod
    def of(cls, points: Points, formats: npt.NDArray[Any]) -> Labels:
        """The labels of points whose weights are multiplied in these formats."""
        numbers = [points.concurrency, points.isl, points.osl, points.tp, points.ep]
        own = {name: getattr(points, name) for name in ("engine", "gpu", "source", "family", "version")}
        return cls(
            **own,
            format=formats,
            tp=points.tp.astype(str).astype(object),
            ep=points.ep.astype(str).astype(object),
            loads=np.log2(np.column_stack(numbers).astype(float)),
        )

    def __len__(self) -> int:
        return len(self.engine)

    def take(self, which: npt.NDArray[Any]) -> Labels:
        """The points that a mask or indices name."""
        return Labels(**{one.name: getattr(self, one.name)[which] for one in fields(self)})

    def loading(self, loads: npt.NDArray[np.float64]) -> Labels:
        """The same points at other loads."""
        return replace(self, loads=loads)

    def keys(self, names: tuple[str, ...]) -> list[Key]:
        """What each point is, by some of the labels."""
        return list(zip(*(getattr(self, name).tolist() for name in names), strict=True))

    def groups(self, names: tuple[str, ...]) -> dict[Key, npt.NDArray[np.int64]]:
        """The points that have some labels in common."""
        found: dict[Key, list[int]] = {}
        for row, key in enumerate(self.keys(names)):
            found.setdefault(key, []).append(row)
        return {key: np.array(rows) for key, rows in found.items()}


def nearest(labels: Labels, known: Labels) -> list[str]:
    """Of each point, what the nearest known ones share with it: the recipe, the family on a stack, or the stack.

    It is "engine" where they share no stack.
    """
    levels = (("recipe", RECIPE), ("family", FAMILY), ("stack", STACK))
    found = ["engine"] * len(labels)
    for level, names in reversed(levels):
        seen = set(known.keys(names))
        found = [level if key in seen else old for key, old in zip(labels.keys(names), found, strict=True)]
    return found


def codes(keys: list[Key], known: dict[Key, int]) -> npt.NDArray[np.int64]:
    """A number for each key, the same for the same ones; `known` gains new ones."""
    return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)
