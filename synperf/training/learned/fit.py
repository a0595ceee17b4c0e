"""Trains one network: least mean absolute relative error of the time, by AdamW with one cycle of the learning rate.

Source of the recipe: a comparison on the same rows (loss on latency, no sigmoid, ReLU, one-cycle), see docs/learned.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import MissingExtraError
from ...estimators.network import Network, pieces
from .data import Table

try:
    import torch
except ModuleNotFoundError as missing:
    raise MissingExtraError.of("training", "train") from missing

ENCODED = (
    "m", "n", "k", "math_over_dram", "tasks_per_sm", "time_128x128",
    "fill_64x64", "fill_128x128", "fill_128x256", "fill_256x128",
)  # fmt: skip
SLACK = 0.0005  # the share of training rows at either end that the output may not go beyond
Progress = Callable[[int, int], None]  # steps done, of all


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Sizes and the course of the training; `epochs` passes over the rows in batches of `batch`."""

    hidden: tuple[int, ...] = (192, 128, 64)
    pieces: int = 6
    epochs: int = 20
    batch: int = 2048
    learning_rate: float = 1e-2
    weight_decay: float = 1e-2
    threads: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where rows come from, as columns of ones and zeros, and the groups that a finished network tells apart."""

    codes: np.ndarray  # (rows, C)
    groups: dict[str, np.ndarray]  # name -> (C,) what it sums to
    rows_of: dict[str, np.ndarray]  # name -> indices of its rows


def fit(
    table: Table, settings: Settings, seed: int, *, known: bool, progress: Progress | None = None
) -> Network:
    """A network for the rows of a table; `known` tells GPUs apart. The same seed gives the same weights, bit for bit.

    A keyboard interrupt ends the training early with the weights of that moment.
    """
    torch.manual_seed(seed)
    torch.set_num_threads(settings.threads)
    torch.set_flush_denormal(True)
    origin = origins(table, known)
    low, high = table.logs.min(axis=0), table.logs.max(axis=0)
    encoded = np.array([table.names.index(name) for name in ENCODED if name in table.names], dtype=np.intp)
    knots = _knots(table.logs[:, encoded], settings.pieces)
    x = np.concatenate([table.logs, pieces(table.logs[:, encoded], knots), origin.codes], axis=1, dtype=np.float32)
    center, scale = x.mean(axis=0), x.std(axis=0) + 1e-3
    center[-origin.codes.shape[1] :], scale[-origin.codes.shape[1] :] = 0.0, 1.0
    x -= center
    x /= scale
    layers = _train(x, table.target.astype(np.float32), settings, seed, progress)
    return _network(table, origin, layers, (low, high, encoded, knots, center, scale))


def origins(table: Table, known: bool) -> Origin:
    """One-hot columns of GPU (when known) and of engine and kernel; `*` stands for the middle of several."""
    pair = np.char.add(np.char.add(table.engine.astype(str), "."), table.kernel.astype(str))
    pairs, of_pair = np.unique(pair, return_inverse=True)
    gpus, of_gpu = np.unique(table.gpu.astype(str), return_inverse=True)
    codes = np.eye(len(pairs), dtype=np.float32)[of_pair]
    if known:
        codes = np.concatenate([codes, np.eye(len(gpus), dtype=np.float32)[of_gpu]], axis=1)
    rows_of: dict[str, np.ndarray] = {}
    for i, gpu in enumerate(gpus) if known else [(-1, "")]:
        here = of_gpu == i if known else np.ones(len(table), dtype=bool)
        head = f"{gpu}." if known else ""
        for j in np.unique(of_pair[here]):
            rows_of[f"{head}{pairs[j]}"] = np.flatnonzero(here & (of_pair == j))
        for kernel in np.unique(table.kernel[here].astype(str)):
            rows_of[f"{head}*.{kernel}"] = np.flatnonzero(here & (table.kernel == kernel))
    if not known:
        rows_of["*"] = np.arange(len(table))
    return Origin(codes=codes, groups={name: _middle(codes, rows) for name, rows in rows_of.items()}, rows_of=rows_of)


def _middle(codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The mean of the distinct codes among the rows: every engine and kernel counts the same."""
    mean: np.ndarray = np.unique(codes[rows], axis=0).mean(axis=0)
    return mean


def _knots(values: np.ndarray, num_pieces: int) -> np.ndarray:
    """(S, pieces + 1) quantiles of each column, rising strictly."""
    quantiles = np.quantile(values, np.linspace(0, 1, num_pieces + 1), axis=0).T
    step = np.maximum(np.diff(quantiles, axis=1), 1e-3)
    return np.concatenate([quantiles[:, :1], quantiles[:, :1] + np.cumsum(step, axis=1)], axis=1).astype(np.float32)


def _train(
    x: np.ndarray, target: np.ndarray, settings: Settings, seed: int, progress: Progress | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weights and biases of the layers, for standardised inputs."""
    sizes = [x.shape[1], *settings.hidden, 1]
    layers: list[Any] = [torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:], strict=False)]
    parameters = [p for layer in layers for p in layer.parameters()]
    steps_per_epoch = max(len(x) // settings.batch, 1)
    steps = steps_per_epoch * settings.epochs
    optimizer = torch.optim.AdamW(parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, settings.learning_rate, total_steps=steps, pct_start=0.1)
    rows, times, draw = torch.from_numpy(x), torch.from_numpy(target), np.random.default_rng(seed)
    done = 0
    for _ in range(settings.epochs):
        order = torch.from_numpy(draw.permutation(len(x)))
        for i in range(steps_per_epoch):
            batch = order[i * settings.batch : (i + 1) * settings.batch]
            out = rows[batch]
            for layer in layers[:-1]:
                out = torch.relu(layer(out))
            apart = (layers[-1](out)[:, 0] - times[batch]).clamp(-5.0, 3.0)
            loss = (torch.exp(apart) - 1.0).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            schedule.step()
            done += 1
        if progress is not None:
            progress(done, steps)
    return [(layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy().copy()) for layer in layers]


def _network(
    table: Table, origin: Origin, layers: list[tuple[np.ndarray, np.ndarray]], scaling: tuple[np.ndarray, ...]
) -> Network:
    """The layers as the estimator uses them: scaling and origin folded into the first, weights rounded as stored."""
    low, high, encoded, knots, center, scale = scaling
    num_codes = origin.codes.shape[1]
    first, bias = layers[0]
    first = first / scale[:, None]
    plain, codes = first[:-num_codes], first[-num_codes:]
    weights = [plain, *(w for w, _ in layers[1:])]
    target, names = table.target, list(origin.groups)
    rows_of = [origin.rows_of[name] for name in names]
    ends = np.array([np.quantile(target[rows], (SLACK, 1 - SLACK)) for rows in rows_of], dtype=np.float32)
    return Network(
        inputs=table.names,
        groups=tuple(names),
        low=low,
        high=high,
        encoded=encoded,
        knots=knots,
        weights=tuple(w.astype(np.float16).astype(np.float32) for w in weights),
        biases=(bias - center[:-num_codes] @ plain.astype(np.float16).astype(np.float32), *(b for _, b in layers[1:])),
        shift=np.stack([origin.groups[name] @ codes for name in names]).astype(np.float32),
        group_low=np.stack([table.logs[rows].min(axis=0) for rows in rows_of]),
        group_high=np.stack([table.logs[rows].max(axis=0) for rows in rows_of]),
        out_low=ends[:, 0],
        out_high=ends[:, 1],
    )
