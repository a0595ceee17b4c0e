"""Measured rows -> what a network is trained on: logged inputs, base times and the group of every row."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ...estimators.inputs import inputs, logarithms, sustained
from ...features import features
from ...kernels import family
from ...measurements import Rows
from ...numeric import concatenated
from ..recipe import Devices, by_launch
from ..shapes import numbered

_TEXTS = ("names", "stepped", "sizes", "of_gpus")  # of a table, of which there is one for all rows
LARGEST = 0.5  # the share of a GPU's rows that are not among its largest: those asked for are larger by far
HELD_OUT = 10  # one of so many shapes is kept from the weights, for intervals
WITHOUT: dict[str, tuple[str, ...]] = {
    "math": ("math", "math_over_dram", "tensor_sm_max", "shared_sm_max", "time_", "fill", "tasks_per_sm", "padding"),
    "memory": ("dram", "math_over_dram", "dram_sm_max", "l2_sm_max", "extra_traffic", "working_set"),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """Rows as a network sees them: columns of one length, and (rows, D) logged inputs."""

    names: tuple[str, ...]
    stepped: tuple[str, ...]  # those of the inputs that a network sees in pieces
    sizes: tuple[str, ...]  # those that no network sees, as far larger calls are asked than measured
    of_gpus: tuple[str, ...]  # those that one that knows no GPU does not see
    logs: np.ndarray
    base_s: np.ndarray
    time_s: np.ndarray
    gpu: np.ndarray  # text
    engine: np.ndarray
    kernel: np.ndarray
    shape: np.ndarray  # uint32, a number for the shape of each row, the same in every table
    extents: np.ndarray  # (rows, fields) of that shape, `KernelFamily.shape`
    place: np.ndarray  # index among the rows that it was made of

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.base_s)

    @property
    def target(self) -> np.ndarray:
        """(rows,) log(time / base)."""
        found: np.ndarray = np.log(self.time_s / self.base_s)
        return found

    @property
    def held_out(self) -> np.ndarray:
        """(rows,) whether the shape is one of those that no weight is fitted to."""
        held: np.ndarray = self.shape % HELD_OUT == 0
        return held

    @property
    def largest(self) -> np.ndarray:
        """(rows,) whether a call is among the largest of its GPU, where still larger ones are to be answered."""
        found = np.zeros(len(self), dtype=bool)
        for gpu in set(self.gpu) if self.sizes else ():
            own = self.gpu == gpu
            found |= own & (self.base_s > np.quantile(self.base_s[own], LARGEST))
        return found

    def folds(self, most: int) -> list[tuple[int, np.ndarray]]:
        """(number, rows that are not in it) of at most `most` parts of about as many shapes; none where all are one."""
        found, which = np.unique(self.shape, return_inverse=True)
        fold = np.arange(len(found)) % most
        return [(i, fold[which] != i) for i in range(min(most, len(found)))] if len(found) > 1 else []

    def take(self, rows: np.ndarray) -> Table:
        """Some rows: a mask or an index."""
        own = {f.name: getattr(self, f.name)[rows] for f in fields(self) if f.name not in _TEXTS}
        return replace(self, **own)


def table(rows: Rows, devices: Devices, without: tuple[str, ...] = ()) -> Table:
    """Inputs of every row; `without` names the groups of inputs (keys of `WITHOUT`) to leave out."""
    parts = [_part(call, gpu, part, index, without) for index, call, gpu, part in by_launch(rows, devices)]
    own: dict[str, Any] = {name: getattr(parts[0], name) for name in _TEXTS} | concatenated(parts)
    return Table(**own)


def _part(call: Any, gpu: Any, rows: Rows, index: np.ndarray, without: tuple[str, ...]) -> Table:
    kind = family(rows.family[0])
    f = features(kind, call, gpu)
    base_s, named = inputs(kind, call, gpu, f, sustained(gpu, kind.name, call.kernel, call.dtype))
    dropped = tuple(prefix for group in without for prefix in WITHOUT[group])
    kept = {name: value for name, value in named.items() if not (dropped and name.startswith(dropped))}
    return Table(
        names=tuple(kept),
        stepped=kind.stepped,
        sizes=kind.sizes(call),
        of_gpus=kind.of_gpus(call),
        logs=logarithms(kept, base_s),
        base_s=base_s,
        time_s=rows.time_s,
        gpu=rows.gpu,
        engine=rows.engine,
        kernel=rows.kernel,
        shape=numbered(rows),
        extents=np.stack([rows.fields[name] for name in kind.shape], axis=1),
        place=index,
    )


def some_of_each(rows: Rows, most: int, seed: int) -> np.ndarray:
    """Indices of at most `most` random rows of every GPU, engine, kernel and format."""
    draw = np.random.default_rng(seed)
    groups = [index for _, index in rows.indices("gpu", "engine", "kernel", "dtype")]
    chosen = [index if len(index) <= most else draw.choice(index, most, replace=False) for index in groups]
    return np.sort(np.concatenate(chosen))
