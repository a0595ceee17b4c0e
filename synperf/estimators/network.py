"""A small network in NumPy: logged inputs -> log(time / base), for one call or for columns of calls.

Inputs are cut to their training range. Some are also encoded piecewise-linearly, each over its own knots, which lets a
smooth network follow the steps of tiles and waves (Gorishniy, Rubachev, Babenko, "On Embeddings for Numerical
Features in Tabular Deep Learning", NeurIPS 2022). Where rows come from (GPU, engine, kernel) shifts the first layer.
The output is cut to what the training rows of that origin have, so that no answer is further from the base.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

BLOCK = 512  # rows: their first layer is about 0.3 MB
_ZERO = np.zeros((), dtype=np.float32)  # NumPy converts a number of Python's every time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Network:
    """Arrays of one network. `D` inputs, `S` of them encoded over `B` pieces, layers of `H1` ... units, `G` groups."""

    inputs: tuple[str, ...]  # D names, in order
    groups: tuple[str, ...]  # G names: "gpu.engine.kernel", or "engine.kernel" where no GPU is known
    low: np.ndarray  # (D,) least and greatest logarithm in training
    high: np.ndarray
    encoded: np.ndarray  # (S,) indices of inputs
    knots: np.ndarray  # (S, B + 1), rising
    weights: tuple[np.ndarray, ...]  # (D + S B, H1), (H1, H2), ..., (Hlast, 1)
    biases: tuple[np.ndarray, ...]  # (H1,), ..., (1,)
    shift: np.ndarray  # (G, H1), added to the first bias
    group_low: np.ndarray  # (G, D) range of the inputs in the training rows of a group
    group_high: np.ndarray
    out_low: np.ndarray  # (G,) range of log(time / base)
    out_high: np.ndarray

    def see(self, logs: np.ndarray, group: int) -> tuple[np.ndarray, np.ndarray]:
        """(rows, Hlast) of the last hidden layer, and (rows,) log(time / base), float64, of logs (rows, D).

        A row alone has the digits of one call.
        """
        if len(logs) == 1:
            hidden, found = self.see_one(logs[0], group)
            return hidden[None], np.array([found])
        hidden = self._hidden(logs, group)
        last = (hidden @ self.weights[-1])[:, 0] + self.biases[-1]
        cut = np.minimum(np.maximum(last, self.out_low[group]), self.out_high[group])
        return hidden, cut.astype(np.float64)

    def see_one(self, logs: np.ndarray, group: int) -> tuple[np.ndarray, float]:
        """As `see`, of the logs (D,) of one call."""
        made = _made(self)
        hidden = _hidden(made.one, made, logs, group)
        found = hidden.dot(made.last).item() + made.last_bias
        low, high = made.out_range[group]
        return hidden, low if found < low else min(found, high)

    def _hidden(self, logs: np.ndarray, group: int) -> np.ndarray:
        """(rows, Hlast) of the last hidden layer, block by block, so that every layer stays in the caches."""
        made, columns = _made(self), logs.T
        if len(logs) <= BLOCK:
            return _hidden(made.many, made, columns, group).T
        found = np.empty((len(self.weights[-1]), len(logs)), dtype=np.float32)
        for start in range(0, len(logs), BLOCK):
            rows = slice(start, start + BLOCK)
            found[:, rows] = _hidden(made.many, made, columns[:, rows], group)
        return found.T

    def correction(self, logs: np.ndarray, group: int) -> np.ndarray:
        """(rows,) log(time / base), float64."""
        return self.see(logs, group)[1]

    def outside(self, logs: np.ndarray, group: int) -> np.ndarray:
        """(rows, D) whether an input is outside the training range of the group."""
        outside: np.ndarray = (logs < self.group_low[group]) | (logs > self.group_high[group])
        return outside

    def outside_of_one(self, logs: np.ndarray, group: int) -> bytes:
        """As `outside`, of the logs (D,) of one call: a byte for each input."""
        low, high = _made(self).ranges[group]
        beyond: bytes = ((logs < low) | (logs > high)).tobytes()
        return beyond


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Shaped:
    """Columns of a network in the shape that meets its values: (N,) for one row, (N, 1) for columns of rows."""

    start: np.ndarray  # (D + S B) of the inputs' ranges and of the pieces
    width: np.ndarray
    layers: list[list[tuple[Callable[[np.ndarray], np.ndarray], np.ndarray]]]  # by group: products with weights, biases


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Made:
    """What a network computes of its own arrays once.

    An input within its range is one piece more, so that all are cut in one go, and sums stay small: the answer for one
    row and for many agree.
    """

    one: _Shaped
    many: _Shaped
    taken: np.ndarray  # (D + S B,) the input of each piece, the D inputs themselves first
    last: np.ndarray
    last_bias: float
    out_range: list[tuple[float, float]]  # by group
    ranges: tuple[tuple[np.ndarray, np.ndarray], ...]  # of the inputs, by group


def _hidden(shaped: _Shaped, made: _Made, logs: np.ndarray, group: int) -> np.ndarray:
    """(Hlast) of one row (D,), or of columns (D, rows): the rows of each unit lie side by side."""
    maximum, x = np.maximum, logs.take(made.taken, axis=0)
    x -= shaped.start
    np.minimum(maximum(x, _ZERO, out=x), shaped.width, out=x)
    for times, bias in shaped.layers[group]:
        x = times(x)
        x += bias
        maximum(x, _ZERO, out=x)
    return x


@lru_cache(maxsize=256)
def _made(n: Network) -> _Made:
    num, knots = len(n.inputs), n.knots.astype(np.float64)
    first = n.weights[0].astype(np.float64)
    first_bias = (n.biases[0] + n.shift + n.low.astype(np.float64) @ first[:num]).astype(np.float32)
    biases = [(bias, *n.biases[1:-1]) for bias in first_bias]
    first[num:] /= np.diff(knots, axis=1).reshape(-1, 1)
    start = np.concatenate([n.low, n.knots[:, :-1].ravel()])
    times = [w.T.astype(np.float32, order="C").dot for w in (first, *n.weights[1:-1])]  # (units, inputs) each
    cut = np.minimum(n.knots, n.high[n.encoded][:, None])  # where few values differ, knots go on beyond the range
    width = np.concatenate([n.high - n.low, np.diff(cut, axis=1).ravel()])
    return _Made(
        one=_Shaped(start=start, width=width, layers=[list(zip(times, one, strict=True)) for one in biases]),
        many=_Shaped(
            start=start[:, None],
            width=width[:, None],
            layers=[[(dot, bias[:, None]) for dot, bias in zip(times, one, strict=True)] for one in biases],
        ),
        taken=np.concatenate([np.arange(num), np.repeat(n.encoded, n.knots.shape[1] - 1)]),
        last=np.ascontiguousarray(n.weights[-1][:, 0]),
        last_bias=float(n.biases[-1][0]),
        out_range=list(zip(n.out_low.tolist(), n.out_high.tolist(), strict=True)),
        ranges=tuple(zip(n.group_low, n.group_high, strict=True)),
    )


def pieces(values: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """(rows, S B) how far each value (rows, S) has come through each piece between two knots, 0 to 1."""
    through = (values[:, :, None] - knots[:, :-1]) / np.diff(knots, axis=1)
    cut: np.ndarray = np.clip(through, 0.0, 1.0)
    return cut.reshape(len(values), knots.shape[0] * (knots.shape[1] - 1))
