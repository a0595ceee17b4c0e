"""What a family has to be timed by torch: the values of its fields, and from one value each to a call on tensors.

Nothing here imports torch: a request is checked before it, which takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, Any

from ..errors import FieldError, UnknownNameError
from ..kernels.fields import MAX_EXTENT
from ..measurements.schema import MOST

if TYPE_CHECKING:
    from .source import Source

Value = int | bool | str
Fields = Mapping[str, Any]  # of one call: a value each
Grid = Mapping[str, tuple[Value, ...]]
WARM, COLD = "warm", "cold"
STATES = (WARM, COLD)  # of L2
MOST_CALLS = 100_000  # of a family in a format, to choose from: each is made without data first
MOST_TRIED = 2_000_000  # values of all fields put together, of which some are calls: a few seconds
MOST_SHOWN = 24  # characters of a value that is refused
FORMATS = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "fp8": "float8_e4m3fn", "int8": "int8"}  # of torch


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A call that is ready to run on tensors of its own, and which library computes it.

    `kernel` is the canonical name, where it is not what `predict` takes for the engine torch.
    """

    run: Callable[[], object]
    library: str
    kernel: str | None = None


def made_by(module: str, name: str) -> Callable[[Fields, Source], Made]:
    """The function of that name in a module of `calls`, which is imported, and torch with it, when it is called."""

    def make(fields: Fields, source: Source) -> Made:
        made: Made = getattr(import_module(f"{__package__}.calls.{module}"), name)(fields, source)
        return made

    return make


def _all(fields: Fields) -> bool:  # noqa: ARG001
    return True


def _none(fields: Fields) -> float:  # noqa: ARG001
    return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """One family as torch runs it. `grid` has the values of every field of a call but `dtype`.

    Fields named in `fixed` take no other values than those of the grid. `keep` says which values go together, and
    `rule` says it in words. `flop` is for the plan's estimate, of families
    that more than memory may limit.
    """

    name: str
    grid: Grid
    formats: tuple[str, ...]
    make: Callable[[Fields, Source], Made]
    flop: Callable[[Fields], float] = _none
    keep: Callable[[Fields], bool] = _all
    rule: str = ""
    fixed: tuple[str, ...] = ()

    def require(self, given: Grid, dtype: str) -> None:
        """Checks `given` values, which stand in the place of the grid's.

        Raises:
            FieldError: a field is unknown, has a value that torch is not asked for here, or no values go together.
        """
        for name, values in given.items():
            self._check(name, values)
        tried = prod(map(len, {**self.grid, **given}.values()))
        if tried > MOST_TRIED:
            right = f"fewer values, for at most {MOST_TRIED:,}"
            raise FieldError(f"{self.name}: the values go together in {tried:,} ways; right would be {right}")
        calls = sum(1 for _ in islice(self._kept(given, dtype), MOST_CALLS + 1))
        if calls > MOST_CALLS:
            right = f"fewer values, for at most {MOST_CALLS:,}"
            raise FieldError(f"{self.name}: the values make more than {MOST_CALLS:,} calls; right would be {right}")
        if not calls:
            raise FieldError(f"{self.name}: no values that are given go together; right would be {self.rule}")

    def cases(self, given: Grid, dtype: str) -> list[Fields]:
        """Every call of the grid in a format, `given` values in the place of the grid's."""
        return list(self._kept(given, dtype))

    def _kept(self, given: Grid, dtype: str) -> Iterator[Fields]:
        grid = {**self.grid, **given, "dtype": (dtype,)}
        every = (dict(zip(grid, values, strict=True)) for values in product(*grid.values()))
        return filter(self.keep, every)

    def _check(self, name: str, values: tuple[Value, ...]) -> None:
        if name not in self.grid:
            raise FieldError(f"{self.name}: {UnknownNameError.among('field', name, self.grid)}")
        known, most = self.grid[name], MOST.get(name, MAX_EXTENT)
        for value in values:
            if name in self.fixed or not isinstance(known[0], int) or isinstance(known[0], bool):
                if value not in known or type(value) is not type(known[0]):
                    right = ", ".join(str(one).lower() for one in known)
                    raise FieldError(f"{self.name}: {name} must be one of {right}, got {str(value)!r}")
            elif type(value) is not int or not 1 <= value <= most:
                right = f"a whole number from 1 to {most}"
                raise FieldError(f"{self.name}: {name} must be {right}, got {str(value)[:MOST_SHOWN]!r}")
