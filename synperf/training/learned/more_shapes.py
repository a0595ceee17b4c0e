"""How errors on new shapes fall with the shapes that a network is fitted to: as a power of their number.

A format of very few shapes is judged by networks that miss one of them, so that they err further than the one that
answers, which has seen all. By how much is measured on the formats of the family that have many: one network has two of
their shapes, another these and six more, and what is left of the shapes tells. That a shape is nearer to one of eight
than to one of two is counted apart, as `nearness` has it, and so is divided out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ...estimators.nearness import Nearness
from ...estimators.network import Network
from ...estimators.weights import MoreShapes
from .data import Table
from .judged import away, errors
from .regimes import LEAST_OF_GROUP, size
from .settings import Settings
from .stages import Stage, few, has_few_shapes
from .sure import sure

FEWER, MORE = 2, 8  # shapes; from one to two, from two to four and from four to eight errors fall alike
VERY_FEW_SHAPES = 8  # from which on missing one in eight makes 2 or 3 %
LEAST_TO_TELL = 4  # shapes besides those that are fitted to
DRAWS = 4  # of which shapes these are
ROWS = 800  # of every GPU, engine and kernel: as many of few shapes as of more


def told_by(num_shapes: Mapping[str, int]) -> tuple[str, ...]:
    """The formats that tell; none where no format has so few shapes that it matters."""
    if min(num_shapes.values()) >= VERY_FEW_SHAPES:
        return ()
    return tuple(part for part, own in num_shapes.items() if own >= MORE + LEAST_TO_TELL and has_few_shapes(own))


def stages_of_shapes(family: str, part: str, data: Table, seed: int) -> Iterator[Stage]:
    """Pairs of networks for some of the shapes of a format, one for few and one for more."""
    for draw in range(DRAWS):
        order = _order(data, seed, draw)
        for num in (FEWER, MORE):
            rows = data.take(few(data, np.isin(data.shape, order[:num]), ROWS, seed))
            settings = Settings.that_measure(len(rows), family)
            yield Stage(name=_name(part, num, draw), rows=rows, known=True, settings=settings)


def more_shapes(
    tables: Mapping[str, Table], networks: Mapping[str, Network], num_shapes: Mapping[str, int],
    near: Mapping[str, Nearness], seed: int,
) -> dict[str, MoreShapes]:  # fmt: skip
    """By format of very few shapes, what their errors count; of no format where they may not fall."""
    told: dict[int, list[float]] = {}  # by shape: one counts once, in however many formats and draws it is
    for part in told_by(num_shapes):
        for draw in range(DRAWS):
            for shape, power in _powers(part, tables[part], networks, near.get(part), seed, draw):
                told.setdefault(shape, []).append(power)
    powers = np.array([np.mean(own) for own in told.values()])
    if len(powers) < LEAST_TO_TELL:
        return {}
    error = float(powers.std(ddof=1) / np.sqrt(len(powers)))
    power = sure(float(powers.mean()), error)
    return {
        part: MoreShapes(
            power=round(power, 5), error=round(error, 5), shapes=len(powers), share=round((1 - 1 / own) ** power, 5)
        )
        for part, own in num_shapes.items()
        if power and 1 < own < VERY_FEW_SHAPES
    }


def _powers(
    part: str, data: Table, networks: Mapping[str, Network], near: Nearness | None, seed: int, draw: int
) -> Iterator[tuple[int, float]]:
    """(shape, the power that its errors fall with) of every shape that neither network of a draw has seen."""
    pair, order = [networks[_name(part, num, draw)] for num in (FEWER, MORE)], _order(data, seed, draw)
    left = data.take(~np.isin(data.shape, order[:MORE]))
    apart = [errors(network, left, known=True)[1] for network in pair]
    seen = [data.extents[np.isin(data.shape, order[:num])] for num in (FEWER, MORE)]
    wider = [1.0 if near is None else near.wider(away(left.extents, own)) for own in seen]
    labels = zip(left.gpu, left.engine, left.kernel, strict=True)
    is_told = np.array([".".join(label) in pair[0].groups for label in labels])  # those of few are among those of more
    leveled = [own / by for own, by in zip(apart, wider, strict=True)]
    for shape in np.unique(left.shape):
        of = is_told & (left.shape == shape)
        if of.sum() >= LEAST_OF_GROUP:
            fewer, more = (size(own[of]) for own in leveled)
            yield int(shape), float(np.log(fewer / more) / np.log(MORE / FEWER))


def _order(data: Table, seed: int, draw: int) -> np.ndarray:
    """The shapes with rows enough to tell anything, in an order of chance."""
    shapes, rows = np.unique(data.shape, return_counts=True)
    return np.random.default_rng([seed, draw]).permutation(shapes[rows >= LEAST_OF_GROUP])


def _name(part: str, num: int, draw: int) -> str:
    return f"{part}.of_{num}_shapes{draw}"
