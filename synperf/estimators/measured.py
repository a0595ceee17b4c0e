"""The estimate from measured calls: a trend, corrected by what was measured of the same and of near shapes.

    time = trend exp(residual)

with the residual log(measured / trend) as in `measured_table`. Only rows of the same GPU, engine, kernel and format
count, and a call that they do not cover has the trend's own answer, under the trend's origin.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from ..hardware import GPU
from ..kernels import KernelFamily
from ..kernels.base import num_calls
from ..measurements.source import POOLED, Columns, Key, Source
from .estimate import Estimate
from .measured_table import Correction, Table
from .shapes import AXES

ORIGIN = "measured"
Trend = Callable[[KernelFamily, Any, GPU], Estimate]
OF_THE_TREND = ("launch floor", "sustained rates", "learned")  # assumptions that a measured time does not rest on
TABLES_HELD = 32  # tables that stay in memory, about 2 MB each


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Held:
    """A table, the GPU as it was, a call that all its rows agree with, and whose rows they are."""

    gpu: GPU
    table: Table
    call: Any
    version: str
    assumptions: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Measured:
    """The estimator of a source of measured rows and a trend. Tables are made when they are first asked for.

    `widening` is how much more a trend that was fitted to the rows of a table errs on others: new shapes' intervals are
    that much wider.
    """

    trend: Trend
    source: Source
    widening: Callable[[Key, GPU], float] = lambda _, __: 1.0
    _held: OrderedDict[Key, Held | None] = field(default_factory=OrderedDict)

    def estimate(self, family: KernelFamily, call: Any, gpu: GPU) -> Estimate:
        """Time of one call, or of columns of calls; the origin of columns is a column.

        Raises: as the trend.
        """
        base = self.trend(family, call, gpu)
        held = self._table(family, call, gpu, base)
        size = num_calls(call)
        if held is None:
            return base if size is None else replace(base, origin=_origins(base, size))
        names = (AXES[family.name].along, *AXES[family.name].near, *AXES[family.name].same)
        numbers = {n: np.array(np.broadcast_to(getattr(call, n), size or 1), dtype=np.float64) for n in names}
        found = held.table.correct(numbers)
        if size is None:
            return _single(base, found, held, self.source) if found.covered[0] else base
        return _mixed(base, found, held, self.source, size)

    def covers(self, family: KernelFamily, call: Any, gpu: GPU) -> bool | np.ndarray:
        """Whether the answer is measured: of one call, or of each of columns.

        Raises: as the trend.
        """
        found: bool | np.ndarray = self.estimate(family, call, gpu).origin == ORIGIN
        return found

    def _table(self, family: KernelFamily, call: Any, gpu: GPU, base: Estimate) -> Held | None:
        """The table of the call's key, where it holds calls of this kind."""
        if family.name not in AXES:
            return None
        key = Key(gpu=gpu.key, family=family.name, engine=base.engine, kernel=base.kernel, dtype=str(call.dtype))
        held = self._held.get(key)
        if key not in self._held or (held is not None and held.gpu is not gpu and held.gpu != gpu):
            columns = self.source.columns(key)
            held = None if columns is None else self._made(family, key, columns, gpu)
            self._held[key] = held
            if len(self._held) > TABLES_HELD:
                self._held.popitem(last=False)
        self._held.move_to_end(key)
        return held if held is not None and _is_alike(call, held.call, family.name) else None

    def _made(self, family: KernelFamily, key: Key, columns: Columns, gpu: GPU) -> Held:
        measured = family.call_type(engine=key.engine, kernel=key.kernel, dtype=key.dtype, **columns.numbers)
        trend_s = self.trend(family, measured, gpu).time_s
        table = Table.of(family.name, columns.numbers, columns.time_s, columns.spread, trend_s, self.widening(key, gpu))
        said = (f"timings of {columns.version} are samples of one kernel",) if key.engine == POOLED else ()
        return Held(gpu=gpu, table=table, call=measured, version=columns.version, assumptions=said)


def _is_alike(call: Any, measured: Any, family: str) -> bool:
    """Whether calls agree in all fields but extents and names: the tables hold no other tiles or results."""
    axes = AXES[family]
    free = {axes.along, *axes.near, *axes.same, "engine", "kernel"}
    return all(_is_same(getattr(call, f.name), getattr(measured, f.name)) for f in fields(call) if f.name not in free)


def _is_same(a: Any, b: Any) -> bool:
    return not isinstance(a, np.ndarray) and bool(a == b)


def _single(base: Estimate, found: Correction, held: Held, source: Source) -> Estimate:
    """The estimate of one call that the table covers."""
    ones = {n: np.array([getattr(base, n)], dtype=np.float64) for n in ("time_s", "floor_s", "efficiency")}
    columns: dict[str, Any] = {n: float(column[0]) for n, column in _times(ones, found).items()}
    names = _names(base, held, source, whole=True)
    return replace(base, origin=ORIGIN, extrapolating=False, outside=(), **columns, **names)


def _mixed(base: Estimate, found: Correction, held: Held, source: Source, size: int) -> Estimate:
    """The estimate of columns: measured where the table covers a call, else the trend's."""
    covered = found.covered
    own = {n: np.broadcast_to(getattr(base, n), size) for n in ("time_s", "low_s", "high_s", "floor_s", "efficiency")}
    columns: dict[str, Any] = {n: np.where(covered, column, own[n]) for n, column in _times(own, found).items()}
    if isinstance(base.outside, list):
        columns["outside"] = [() if hit else names for hit, names in zip(covered, base.outside, strict=True)]
    if isinstance(base.extrapolating, np.ndarray):
        columns["extrapolating"] = base.extrapolating & ~covered
    names = _names(base, held, source, whole=bool(covered.all())) if covered.any() else {}
    return replace(base, origin=np.where(covered, ORIGIN, _origins(base, size)).astype(object), **columns, **names)


def _times(base: dict[str, np.ndarray], found: Correction) -> dict[str, np.ndarray]:
    """Times, ends and efficiency of the corrected trend; no time is below the physical bound."""
    floor_s, trend_s = base["floor_s"], base["time_s"]
    is_hit = np.isfinite(found.measured_s)
    time_s = np.maximum(np.where(is_hit, found.measured_s, trend_s * np.exp(found.log)), floor_s)
    return {
        "time_s": time_s,
        "low_s": np.maximum(time_s * np.exp(found.low - found.log), floor_s),
        "high_s": time_s * np.exp(found.high - found.log),
        "efficiency": base["efficiency"] * (trend_s / time_s),
    }


def _names(base: Estimate, held: Held, source: Source, *, whole: bool) -> dict[str, Any]:
    """Whose rows they are, beside what the trend says: where the table covers the whole, without what it replaces."""
    said = f"{source.name} ({held.version})" if held.version else source.name
    kept = tuple(x for x in base.assumptions if not (whole and x.partition(":")[0] in OF_THE_TREND))
    return {"versions": {**base.versions, ORIGIN: said}, "assumptions": kept + held.assumptions}


def _origins(base: Estimate, size: int) -> np.ndarray:
    found: np.ndarray = np.array(np.broadcast_to(np.asarray(base.origin, dtype=object), size))
    return found
