"""What a network sees of rows: inputs cut and in pieces, standardised, and columns of where each row comes from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...estimators.network import pieces
from .data import Table


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Seen:
    """Standardised columns of rows, and what makes others alike."""

    x: np.ndarray  # (rows, D + S B + C)
    origin: Origin
    low: np.ndarray  # (D,) where inputs are cut
    high: np.ndarray
    encoded: np.ndarray  # (S,) indices of the inputs in pieces
    knots: np.ndarray  # (S, B + 1)
    center: np.ndarray  # (D + S B + C,)
    scale: np.ndarray

    @classmethod
    def of(cls, table: Table, num_pieces: int, *, known: bool) -> Seen:
        """Of the rows of a table; `known` tells GPUs apart."""
        origin = origins(table, known)
        hidden = np.isin(table.names, table.sizes if known else (*table.sizes, *table.of_gpus))
        low = table.logs.min(axis=0)
        high = np.where(hidden, low, table.logs.max(axis=0))
        logs = np.minimum(table.logs, high)
        stepped = [table.names.index(name) for name in table.stepped if name in table.names]
        encoded = np.array([at for at in stepped if not hidden[at]], dtype=np.intp)
        knots = _knots(logs[:, encoded], num_pieces)
        x = np.concatenate([logs, pieces(logs[:, encoded], knots), origin.codes], axis=1, dtype=np.float32)
        center, scale = x.mean(axis=0), x.std(axis=0) + 1e-3
        center[-origin.codes.shape[1] :], scale[-origin.codes.shape[1] :] = 0.0, 1.0
        scale[: len(hidden)][hidden] = np.inf  # which gives them no weight
        x -= center
        x /= scale
        return cls(
            x=x, origin=origin, low=low, high=high, encoded=encoded, knots=knots, center=center, scale=scale
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where rows come from, as columns of ones and zeros, and the groups that a finished network tells apart."""

    codes: np.ndarray  # (rows, C)
    groups: dict[str, np.ndarray]  # name -> (C,) what it sums to
    rows_of: dict[str, np.ndarray]  # name -> indices of its rows


def origins(table: Table, known: bool) -> Origin:
    """One-hot columns of GPU (when known) and of engine and kernel; `*` stands for the middle of several."""
    engines, of_engine = _numbered(table.engine)
    kernels, of_kernel = _numbered(table.kernel)
    pairs, of_pair = np.unique(of_engine * len(kernels) + of_kernel, return_inverse=True)
    gpus, of_gpu = _numbered(table.gpu) if known else ([""], np.zeros(len(table), dtype=np.intp))
    codes = np.eye(len(pairs), dtype=np.float32)[of_pair]
    if known:
        codes = np.concatenate([codes, np.eye(len(gpus), dtype=np.float32)[of_gpu]], axis=1)
    launch = of_gpu * len(pairs) + of_pair
    rows_of: dict[str, np.ndarray] = {}
    for i, gpu in enumerate(gpus):
        head, here = f"{gpu}." if known else "", np.flatnonzero(of_gpu == i)
        for j in np.unique(of_pair[here]):
            engine, kernel = divmod(int(pairs[j]), len(kernels))
            rows_of[f"{head}{engines[engine]}.{kernels[kernel]}"] = here[of_pair[here] == j]
        for j in np.unique(of_kernel[here]):
            rows_of[f"{head}*.{kernels[j]}"] = here[of_kernel[here] == j]
    if not known:
        rows_of["*"] = np.arange(len(table))
    groups = {name: _middle(codes, rows, launch) for name, rows in rows_of.items()}
    return Origin(codes=codes, groups=groups, rows_of=rows_of)


def _numbered(column: np.ndarray) -> tuple[list[str], np.ndarray]:
    """The distinct texts of a column in order, and which of them each row has."""
    found: dict[str, int] = {}
    first = np.fromiter((found.setdefault(text, len(found)) for text in column), dtype=np.intp, count=len(column))
    names = sorted(found)
    place = np.empty(len(names), dtype=np.intp)
    place[[found[name] for name in names]] = np.arange(len(names))
    return names, place[first]


def _middle(codes: np.ndarray, rows: np.ndarray, launch: np.ndarray) -> np.ndarray:
    """The mean of the distinct codes among the rows: every engine and kernel counts the same."""
    _, first = np.unique(launch[rows], return_index=True)
    mean: np.ndarray = codes[rows[first]].mean(axis=0)
    return mean


def _knots(values: np.ndarray, num_pieces: int) -> np.ndarray:
    """(S, pieces + 1) quantiles of each column, rising strictly."""
    quantiles = np.quantile(values, np.linspace(0, 1, num_pieces + 1), axis=0).T
    step = np.maximum(np.diff(quantiles, axis=1), 1e-3)
    return np.concatenate([quantiles[:, :1], quantiles[:, :1] + np.cumsum(step, axis=1)], axis=1).astype(np.float32)
