"""Which network tells how far errors go on a row, and what it makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...estimators.nearness import Places
from ...estimators.network import Network
from ...estimators.weights import KNOWN
from .data import Table
from .seen import origins
from .stages import fitted_to, num_folds, rows_of_fold, without_fold, without_largest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """Rows, and the networks that tell how far errors go on them: which one of each row, and if it is new to that.

    With `parted`, calls outside the range that a network has seen stand apart from the others.
    """

    data: Table
    networks: tuple[Network, ...]
    by: np.ndarray  # (rows,) index of the network
    is_new: np.ndarray
    parted: bool
    octaves: np.ndarray  # (rows,) to the nearest shape that the network has seen; 0 where all count alike
    share: float = 1.0  # of their errors that the network which answers has

    @classmethod
    def of(cls, part: str, data: Table, networks: Mapping[str, Network], num_shapes: int, fall: float = 0.0) -> Judged:
        """By the network of a format that knows GPUs; unless shapes are many, by those that miss the shape.

        These have fewer rows; errors `fall` with the rows, as `more_rows.fall` says.
        """
        folds = [(i, others) for i, others in data.folds(num_folds(num_shapes)) if without_fold(part, i) in networks]
        if not folds:
            return cls.of_one(networks[f"{part}.{KNOWN}"], data)
        by, distance = np.zeros(len(data), dtype=np.intp), np.zeros(len(data))
        for place, (_, others) in enumerate(folds):
            by[~others], distance[~others] = place, away(data.extents[~others], data.extents[others])
        rows = [rows_of_fold(data, others, num_shapes) for _, others in folds]
        return cls(
            data=data,
            networks=tuple(networks[without_fold(part, i)] for i, _ in folds),
            by=by,
            is_new=np.ones(len(data), dtype=bool),
            parted=True,
            octaves=distance,
            share=float(np.mean(rows) / len(fitted_to(data, num_shapes))) ** fall,
        )

    @classmethod
    def of_one(cls, network: Network, data: Table) -> Judged:
        """By one network, which was fitted to all that are not held out."""
        by, near = np.zeros(len(data), dtype=np.intp), np.zeros(len(data))
        return cls(data=data, networks=(network,), by=by, is_new=data.held_out, parted=False, octaves=near)

    @classmethod
    def of_largest(cls, part: str, data: Table, networks: Mapping[str, Network]) -> tuple[Judged, ...]:
        """The largest calls by the network that misses them; none where there is no such network."""
        if without_largest(part) not in networks:
            return ()
        found = cls.of_one(networks[without_largest(part)], data.take(data.largest))
        return (replace(found, is_new=np.ones(len(found.data), dtype=bool), parted=True),)

    def by_network(self) -> Iterator[tuple[Network, np.ndarray]]:
        """(network, mask of its rows)."""
        for place, network in enumerate(self.networks):
            yield network, self.by == place


def errors(network: Network, rows: Table, *, known: bool) -> tuple[np.ndarray, np.ndarray]:
    """(predicted time, log(measured / predicted)) of every row, each by its own group, else by the middle of all.

    Rows that the network has no group for are nan.
    """
    correction = np.full(len(rows), np.nan)
    for name, index in origins(rows, known).rows_of.items():
        if "*" in name:
            continue
        kernel = name.rpartition(".")[2]
        group = next((g for g in (name, f"*.{kernel}", "*") if g in network.groups), None)
        if group is None:
            continue
        correction[index] = network.correction(rows.logs[index], network.groups.index(group))
    return rows.base_s * np.exp(correction), rows.target - correction


def away(extents: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """(rows,) octaves to the nearest of the shapes that were seen."""
    shapes, which = np.unique(extents, axis=0, return_inverse=True)
    found: np.ndarray = Places.of(np.unique(seen, axis=0)).octaves(shapes)[which.reshape(-1)]
    return found
