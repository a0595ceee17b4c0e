"""How errors on new shapes grow with the distance to the nearest shape that a network has seen.

Shapes that are asked for lie between measured ones, and so nearer to them than measured ones to each other, of which
many are the last in their direction. A shape counts once, however many rows it has: the size of its errors, in units of
those of their groups, is held against its distance, by least squares over the shapes of all formats of a family.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...estimators.nearness import Nearness
from ...numeric import concatenated
from .regimes import LEAST_OF_GROUP, Spread, scaled_rows, size
from .sure import sure

Groups = Mapping[str, Spread]


def nearness(every: Mapping[str, Groups], shapes: Mapping[str, np.ndarray]) -> dict[str, Nearness]:
    """By format, of errors inside the measured range; of no format where they may not grow.

    `shapes` (shapes, fields) are those that the network which answers has seen.
    """
    points = {part: _of_shapes(groups) for part, groups in every.items()}
    growth, ends = _growth([own for own in points.values() if len(own) > 1])
    return {
        part: _nearness(growth, ends, groups, shapes[part])
        for part, groups in every.items()
        if growth and any(s.octaves.any() for s in groups.values())
    }


def leveled(groups: Groups, nearness: Nearness | None) -> dict[str, Spread]:
    """Errors as they would be on shapes as far as usual."""
    if nearness is None:
        return dict(groups)
    wider = {name: nearness.wider(s.octaves) for name, s in groups.items()}
    return {name: replace(s, apart=s.apart / wider[name], wider=wider[name]) for name, s in groups.items()}


def _nearness(growth: float, ends: tuple[float, float], groups: Groups, shapes: np.ndarray) -> Nearness:
    away = np.concatenate([s.octaves for name, s in groups.items() if "*" not in name])
    least, usual, most = (round(octaves, 5) for octaves in (ends[0], float(np.clip(np.median(away), *ends)), ends[1]))
    extents = tuple(tuple(int(extent) for extent in shape) for shape in shapes)
    return Nearness(shapes=extents, growth=round(growth, 5), least=least, usual=usual, most=most)


def _growth(formats: list[np.ndarray]) -> tuple[float, tuple[float, float]]:
    """(of log(size of errors) per octave, least and most octaves) of shapes (shapes, 2) of every format.

    Each format has its own level, which tells nothing.
    """
    octaves, logs = np.concatenate([np.empty((0, 2)), *(points - points.mean(axis=0) for points in formats)]).T
    squares, left = float(octaves @ octaves), len(octaves) - len(formats) - 1
    if left < 1 or squares == 0:
        return 0.0, (0.0, 0.0)
    slope, away = float(octaves @ logs) / squares, np.concatenate(formats)[:, 0]
    error = float(np.sqrt(((logs - slope * octaves) ** 2).sum() / left / squares))
    return sure(slope, error), (float(away.min()), float(away.max()))


def _of_shapes(groups: Groups) -> np.ndarray:
    """(shapes, 2) octaves to the nearest shape, and log(size of scaled errors), of shapes with rows enough."""
    own = [(s, scaled_rows(s)) for name, s in groups.items() if "*" not in name]
    columns = concatenated([s for s, _ in own])
    scaled, shape, away = np.concatenate([apart for _, apart in own]), columns["shape"], columns["octaves"]
    rows = [np.flatnonzero((shape == one) & columns["held_out"]) for one in np.unique(shape)]
    found = [(away[of].mean(), np.log(size(scaled[of]))) for of in rows if len(of) >= LEAST_OF_GROUP]
    return np.array(found).reshape(-1, 2)
