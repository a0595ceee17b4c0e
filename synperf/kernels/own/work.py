"""Work of calls by the functions of a file: of one call in plain numbers, of columns of many at once or one by one.

A file need not say whether its functions take columns. They are tried on columns, and some of the calls, among them
those with the least and the most of every field, are worked out one by one beside them: only where all of these agree
do columns stand. Else every call is worked out by itself, from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import PluginError
from ...hardware import GPU
from ...numeric import Number
from ..base import num_calls
from .call import numbers
from .source import Source
from .tasks import CTA, Columns, WrongTasksError, checked, number, one_call

COMPARED = 8  # calls of columns that are also worked out one by one, beside the extremes
NEAR = 1e-9  # of results that count as equal: whole numbers are exact, columns are floats
FLOP, COMPULSORY_BYTES, DECOMPOSE = "flop", "compulsory_bytes", "decompose"
_LEAST = {FLOP: 0.0, COMPULSORY_BYTES: 1e-9}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Work:
    """The functions of a file; `one_by_one` names those that turned out not to take columns."""

    source: Source
    policy: str
    one_by_one: set[str] = field(default_factory=set)

    def tasks(self, call: Any, gpu: GPU) -> Columns:
        """What `decompose` says of one call, or of columns.

        Raises:
            PluginError: it raises, or gives no work.
        """

        def single(one: Any) -> Columns:
            return self._checked(DECOMPOSE, one_call, (one, gpu), self.policy, gpu, one.dtype)

        def many(columns: Any, size: int) -> Columns:
            return self._checked(DECOMPOSE, checked, (columns, gpu), size)

        return self._of(DECOMPOSE, call, single, many)

    def total(self, name: str, call: Any) -> Number:
        """What `flop` or `compulsory_bytes` of the file says.

        Raises:
            PluginError: it raises, or gives no such number.
        """

        def value(given: Any, size: int | None) -> Columns:
            return {name: number(name, given, size, _LEAST[name])}

        def single(one: Any) -> Columns:
            return self._checked(name, value, (one,), None)

        def many(columns: Any, size: int) -> Columns:
            return self._checked(name, value, (columns,), size)

        return self._of(name, call, single, many)[name]

    def _checked(self, name: str, check: Callable[..., Columns], arguments: tuple[Any, ...], *more: Any) -> Columns:
        given = self.source.run(name, *arguments)
        try:
            return check(given, *more)
        except WrongTasksError as wrong:
            raise self.source.wrong(name, str(wrong)) from None

    def _of(
        self, name: str, call: Any, single: Callable[[Any], Columns], many: Callable[[Any, int], Columns]
    ) -> Columns:
        size = num_calls(call)
        with np.errstate(all="ignore"):  # what comes of it is checked
            if size is None:
                return single(call)
            if name not in self.one_by_one:
                found = _agreeing(call, size, single, many)
                if found is not None:
                    return found
                self.one_by_one.add(name)
            return _stacked([single(one) for one in map(_picker(call), range(size))])


def _agreeing(
    call: Any, size: int, single: Callable[[Any], Columns], many: Callable[[Any, int], Columns]
) -> Columns | None:
    """What comes of columns, where it is what comes of some of the calls by themselves; else None."""
    try:
        found = many(call, size)
    except PluginError:
        return None
    at = _picker(call)
    for i in _compared(call, size):
        own = single(at(i))
        if own.keys() != found.keys():
            return None
        for name, value in own.items():
            column = found[name]
            if not np.isclose(column[i] if isinstance(column, np.ndarray) else column, value, rtol=NEAR, atol=0.0):
                return None
    return found


def _compared(call: Any, size: int) -> list[int]:
    """Which calls are worked out by themselves too: the extremes of every field, and some evenly spread."""
    columns = [c for name in numbers(type(call)) if isinstance(c := getattr(call, name), np.ndarray)]
    extremes = [int(end) for column in columns for end in (column.argmin(), column.argmax())]
    spread = np.linspace(0, size - 1, min(size, COMPARED)).astype(int).tolist()
    return sorted({*extremes, *spread})


def _picker(call: Any) -> Callable[[int], Any]:
    """A function that gives one call of columns, in plain numbers, without checking it again."""
    kind = type(call)
    columns = {name: getattr(call, name) for name in call.__slots__}
    lists = {name: value.tolist() for name, value in columns.items() if isinstance(value, np.ndarray)}

    def pick(i: int) -> Any:
        one = object.__new__(kind)
        for name, value in columns.items():
            object.__setattr__(one, name, int(lists[name][i]) if name in lists else value)
        return one

    return pick


def _stacked(rows: Sequence[Columns]) -> Columns:
    """Columns of the work of calls; what is the same in all is one number."""
    names = dict.fromkeys(name for row in rows for name in row)
    found: Columns = {}
    for name in names:
        column = np.array([row.get(name, CTA.get(name, np.nan)) for row in rows])
        found[name] = float(column[0]) if len(column) and (column == column[0]).all() else column
    return found
