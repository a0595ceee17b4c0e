"""A small network in NumPy: logged inputs -> log(time / base), for one call or for columns of calls.

Inputs are cut to their training range. Some are also encoded piecewise-linearly, each over its own knots, which lets a
smooth network follow the steps of tiles and waves (Gorishniy, Rubachev, Babenko, "On Embeddings for Numerical
Features in Tabular Deep Learning", NeurIPS 2022). Where rows come from (GPU, engine, kernel) shifts the first layer.
The output is cut to what the training rows of that origin have, so that no answer is further from the base.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

BLOCK = 512  # rows: their first layer is about 0.3 MB


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

    def hidden(self, logs: np.ndarray, group: int) -> np.ndarray:
        """(rows, Hlast) of the last hidden layer, block by block, so that every layer stays in the caches."""
        if len(logs) == 1:
            return self._hidden_of_one(logs[0], group)[None]
        columns = logs.T
        if len(logs) <= BLOCK:
            return self._hidden(columns, group).T
        found = np.empty((len(self.weights[-1]), len(logs)), dtype=np.float32)
        for start in range(0, len(logs), BLOCK):
            rows = slice(start, start + BLOCK)
            found[:, rows] = self._hidden(columns[:, rows], group)
        return found.T

    def _hidden_of_one(self, logs: np.ndarray, group: int) -> np.ndarray:
        """(Hlast,) of one row: an input within its range is one piece more, so that all are cut in one go."""
        one = _of_one(self)
        through = logs.take(one.taken)
        through -= one.start
        through *= one.per_width
        np.minimum(np.maximum(through, 0.0, out=through), 1.0, out=through)
        return _through(one.layers, (one.first_bias[group], *one.biases), through)

    def _hidden(self, columns: np.ndarray, group: int) -> np.ndarray:
        """(Hlast, rows): inputs and units lie one after the other, the rows of each side by side."""
        made = _made(self)
        return _through(made.layers, (made.first_bias[group], *made.biases), self._encoded(columns, made))

    def _encoded(self, columns: np.ndarray, made: _Made) -> np.ndarray:
        """(D + S B, rows) what the first layer multiplies: inputs within their range, and their pieces."""
        num, rows = columns.shape
        found = np.empty((num + made.start.shape[0] * made.start.shape[1], rows), dtype=np.float32)
        cut, through = found[:num], found[num:].reshape(*made.start.shape[:2], rows)  # views
        np.minimum(np.maximum(columns, made.low, out=cut), made.high, out=cut)
        np.subtract(cut[self.encoded][:, None], made.start, out=through)
        through *= made.per_width
        np.minimum(np.maximum(through, 0.0, out=through), 1.0, out=through)
        return found

    def correction(self, logs: np.ndarray, group: int) -> np.ndarray:
        """(rows,) log(time / base), float64."""
        return self.output(self.hidden(logs, group), group)

    def output(self, hidden: np.ndarray, group: int) -> np.ndarray:
        """(rows,) log(time / base) of a last hidden layer, float64."""
        if len(hidden) == 1:
            one = _of_one(self)
            alone = float(hidden[0].dot(one.last)) + one.last_bias
            return np.array([min(max(alone, one.out_low[group]), one.out_high[group])])
        last = (hidden @ self.weights[-1])[:, 0] + self.biases[-1]
        cut: np.ndarray = np.minimum(np.maximum(last, self.out_low[group]), self.out_high[group])
        return cut.astype(np.float64)

    def outside(self, logs: np.ndarray, group: int) -> np.ndarray:
        """(rows, D) whether an input is outside the training range of the group."""
        outside: np.ndarray = (logs < self.group_low[group]) | (logs > self.group_high[group])
        return outside


def _through(layers: tuple[np.ndarray, ...], biases: tuple[np.ndarray, ...], x: np.ndarray) -> np.ndarray:
    """What comes out of hidden layers: units first, for one row or for columns of them."""
    for weight, bias in zip(layers, biases, strict=True):
        x = weight.dot(x)
        x += bias
        np.maximum(x, 0.0, out=x)
    return x


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Made:
    """What a network computes of its own arrays once, in the shapes that meet columns of rows."""

    low: np.ndarray  # (D, 1)
    high: np.ndarray
    start: np.ndarray  # (S, B, 1) of the pieces
    per_width: np.ndarray
    layers: tuple[np.ndarray, ...]  # (units, inputs) of all but the last
    first_bias: np.ndarray  # (G, H1, 1)
    biases: tuple[np.ndarray, ...]  # (units, 1) of the layers between


@lru_cache(maxsize=256)
def _made(n: Network) -> _Made:
    return _Made(
        low=n.low[:, None],
        high=n.high[:, None],
        start=n.knots[:, :-1, None].copy(),
        per_width=(1.0 / np.diff(n.knots, axis=1)).astype(np.float32)[..., None],
        layers=tuple(np.ascontiguousarray(w.T) for w in n.weights[:-1]),
        first_bias=(n.biases[0] + n.shift)[..., None],
        biases=tuple(bias[:, None] for bias in n.biases[1:-1]),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _OfOne:
    """The same for one row, without its second dimension; what an input adds is folded into the first layer."""

    taken: np.ndarray  # (D + S B,) the input of each piece, the D inputs themselves first
    start: np.ndarray
    per_width: np.ndarray
    layers: tuple[np.ndarray, ...]
    first_bias: tuple[np.ndarray, ...]  # by group
    biases: tuple[np.ndarray, ...]
    last: np.ndarray
    last_bias: float
    out_low: list[float]
    out_high: list[float]


@lru_cache(maxsize=256)
def _of_one(n: Network) -> _OfOne:
    made, num, width = _made(n), len(n.inputs), n.high - n.low
    first = made.layers[0].copy()
    first[:, :num] *= width
    moved = n.biases[0] + n.shift + n.low @ n.weights[0][:num]
    with np.errstate(divide="ignore"):
        per_width = np.where(width > 0, 1.0 / width, 0.0)
    return _OfOne(
        taken=np.concatenate([np.arange(num), np.repeat(n.encoded, made.start.shape[1])]),
        start=np.concatenate([n.low, made.start.ravel()]),
        per_width=np.concatenate([per_width, made.per_width.ravel()]).astype(np.float32),
        layers=(first, *made.layers[1:]),
        first_bias=tuple(moved.astype(np.float32)),
        biases=n.biases[1:-1],
        last=np.ascontiguousarray(n.weights[-1][:, 0]),
        last_bias=float(n.biases[-1][0]),
        out_low=n.out_low.tolist(),
        out_high=n.out_high.tolist(),
    )


def pieces(values: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """(rows, S B) how far each value (rows, S) has come through each piece between two knots, 0 to 1."""
    through = (values[:, :, None] - knots[:, :-1]) / np.diff(knots, axis=1)
    cut: np.ndarray = np.clip(through, 0.0, 1.0)
    return cut.reshape(len(values), knots.shape[0] * (knots.shape[1] - 1))
