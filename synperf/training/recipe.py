"""What every way to predict from measured rows is: a fit on rows, and the predictor that comes of it.

The shipped model, the paper's and every baseline are recipes, so that one evaluation compares them on equal rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..hardware import GPU
from ..kernels import family
from ..measurements import Rows

Devices = Mapping[str, GPU]  # by key; what is known of each GPU, its calibration record included
Predictor = Callable[[Rows, Devices], np.ndarray]  # seconds, one per row
Fit = Callable[[Rows, Devices, int], Predictor]  # of training rows and a seed


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A named way to fit; `families` are those that it has features of, empty where it fits all."""

    name: str
    summary: str
    fit: Fit
    families: tuple[str, ...] = ()

    def fits(self, family: str) -> bool:
        """Whether it fits rows of a family."""
        return not self.families or family in self.families


def by_part(rows: Rows) -> Iterator[tuple[str, np.ndarray]]:
    """(name, indices) of the rows that share a network: a format, or a format and a variant, `bf16.decode`."""
    variant = np.empty(len(rows), dtype=object)
    for _, index in rows.indices(*rows.labels()):
        part = rows.take(index)
        variant[index] = family(part.family[0]).variant(part.call())
    name = np.array([f"{dtype}.{v}" if v else dtype for dtype, v in zip(rows.fields["dtype"], variant, strict=True)])
    for one in np.unique(name):
        yield str(one), np.flatnonzero(name == one)


def by_kernel(rows: Rows) -> Iterator[tuple[tuple[str, str, str, str], np.ndarray]]:
    """((GPU, engine, kernel, part), indices) of the rows, in this order; parts as `by_part` names them."""
    found = [
        ((gpu, engine, kernel, part), index[own])
        for part, index in by_part(rows)
        for (gpu, engine, kernel), own in rows.take(index).indices("gpu", "engine", "kernel")
    ]
    yield from sorted(found, key=lambda one: one[0])


def by_launch(rows: Rows, devices: Devices) -> Iterator[tuple[np.ndarray, Any, GPU, Rows]]:
    """(indices, call that holds columns, GPU, rows) of every GPU, engine, kernel, format and the like."""
    for (key, *_), index in rows.indices("gpu", *rows.labels()):
        part = rows.take(index)
        yield index, part.call(), devices[key], part
