"""Where a measured estimate looks: the rows of one GPU, engine, kernel, format and other labels, and of nothing else.

Rows of two versions of an engine are never mixed: the newest one answers. Rows that were chosen by an error or for
being fast or slow (`Rows.biased`) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import MissingExtraError, UnknownNameError
from . import aiconfigurator
from .schema import Rows, numbers_of

POOLED = "torch"  # the engine under which the frameworks' timings of one library are samples of one kernel
GPUS_HELD = 4  # GPUs whose rows stay in memory, about 15 MB each


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What rows must share to stand in one table."""

    gpu: str
    family: str
    engine: str
    kernel: str
    dtype: str
    labels: tuple[tuple[str, Any], ...] = ()  # other fields that a call holds one value of, in the family's order


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """Measured calls of one key: number fields, the median time of each call and its relative half-spread."""

    numbers: Mapping[str, np.ndarray]
    time_s: np.ndarray
    spread: np.ndarray
    version: str  # of the engine, or of all that went in

    def __len__(self) -> int:
        """Number of calls."""
        return len(self.time_s)


Load = Callable[[str, str, bool], Mapping[Key, Columns]]  # (GPU, family, whether of the pooled engine)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Tables by key. `name` says whose they are, in the answers that use them."""

    name: str
    load: Load

    def columns(self, key: Key) -> Columns | None:
        """The measured calls of a key, or None where there are none."""
        return self.load(key.gpu, key.family, key.engine == POOLED).get(key)

    @classmethod
    def of(cls, rows: Rows, name: str = "measured rows") -> Source:
        """Exactly these rows, whoever measured them."""
        tables = by_key(rows)
        return cls(name, lambda _gpu, _family, _pooled: tables)

    @classmethod
    def installed(cls, *, with_test: bool = True) -> Source:
        """The tables of aiconfigurator-core, read when a GPU is first asked for; none without the extra [data].

        `with_test=False` leaves out the test rows of the published split, as an evaluation has to.
        """

        @lru_cache(maxsize=2 * GPUS_HELD)
        def load(gpu: str, family: str, is_pooled: bool) -> Mapping[Key, Columns]:
            try:
                rows = _installed_rows(gpu, family, is_pooled)
            except (MissingExtraError, UnknownNameError):
                return {}
            return by_key(rows if with_test else rows.take(~rows.is_test))

        return cls(aiconfigurator.source(), load)


def _installed_rows(gpu: str, family: str, is_pooled: bool) -> Rows:
    if not is_pooled:
        return aiconfigurator.read(gpu, family)
    if family != "gemm":
        raise UnknownNameError(f"no measured {family} table of engine {POOLED}")
    return aiconfigurator.read_torch(gpu)


def by_key(rows: Rows) -> dict[Key, Columns]:
    """The rows of each key, those of the newest version."""
    return dict(_tables(rows.take(~rows.biased)))


def _tables(rows: Rows) -> Iterator[tuple[Key, Columns]]:
    names = ("gpu", "family", "engine", "kernel")
    others = tuple(name for name in rows.fields if name in rows.labels())
    for values, index in rows.indices(*names, *others):
        part = rows.take(index)
        version = max(set(part.version), key=_release)
        labels = dict(zip(others, values[len(names) :], strict=True))
        dtype, family = labels.pop("dtype"), values[1]
        key = Key(**dict(zip(names, values, strict=False)), dtype=dtype, labels=tuple(labels.items()))
        yield key, _columns(part.take(part.version == version), numbers_of(family), version)


def _release(version: str) -> tuple[tuple[int, ...], str]:
    """Orders versions by their numbers: 0.9.1, 0.10.0rc1, 0.10.0rc2."""
    return tuple(map(int, re.findall(r"\d+", version))), version


def _columns(rows: Rows, names: tuple[str, ...], version: str) -> Columns:
    """Columns ordered by their numbers; a call that several files measured has the median of their medians."""
    order = np.lexsort([rows.time_s, *(rows.fields[name] for name in reversed(names))])
    numbers = {name: rows.fields[name][order].astype(np.float64) for name in names}
    time_s, spread = rows.time_s[order], rows.spread[order]
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = np.any([column[1:] != column[:-1] for column in numbers.values()], axis=0)
    first = np.flatnonzero(is_first)
    count = np.diff(np.append(first, len(order)))
    median = (time_s[first + (count - 1) // 2] + time_s[first + count // 2]) / 2
    apart = (time_s[first + count - 1] - time_s[first]) / 2 / median
    return Columns(
        numbers={name: column[first] for name, column in numbers.items()},
        time_s=median,
        spread=np.maximum(apart, np.maximum.reduceat(spread, first)),
        version=version,
    )
