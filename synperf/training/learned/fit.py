"""Trains one network: least mean absolute relative error of the time, by AdamW with one cycle of the learning rate.

Source of the recipe: a comparison on the same rows (loss on latency, no sigmoid, ReLU, one-cycle), see docs/learned.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from math import cos, pi
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from safetensors import SafetensorError, safe_open

from ...errors import FileFormatError, MissingExtraError
from ...estimators.network import Network, pieces
from ...estimators.shapes import AXES
from .data import SATURATED, Table

try:
    import torch
    from safetensors.torch import save_file
except ModuleNotFoundError as missing:
    raise MissingExtraError.of("training", "train") from missing

HIDDEN, QUICK = (128, 128, 32), (128, 64, 32)
WARM_UP = 0.1
SLACK = 0.0005  # the share of training rows at either end that the output may not go beyond
Progress = Callable[[int, int], None]  # epochs done, of all


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Sizes and the course of the training; `epochs` passes over the rows in batches of `batch`."""

    hidden: tuple[int, ...] = HIDDEN
    pieces: int = 6
    epochs: int = 24
    batch: int = 2048
    learning_rate: float = 1e-2
    weight_decay: float = 1e-2

    @classmethod
    def for_rows(cls, rows: int, family: str) -> Settings:
        """More epochs and smaller batches for fewer rows, so that every training has some thousand steps."""
        epochs, batch = min(max(1_200_000 // max(rows, 1), 24), 60), min(max(rows // 200, 128), 2048)
        return cls(hidden=_hidden(family), epochs=epochs, batch=batch)

    @property
    def cost(self) -> int:
        """Of a training with these settings, per row, in units that order them."""
        return self.epochs * max(self.hidden)

    @classmethod
    def that_measure(cls, rows: int, family: str) -> Settings:
        """For networks that only measure what an unseen GPU or shape costs: some thousand steps of larger batches."""
        return cls(hidden=_hidden(family), epochs=min(max(1_000_000 // max(rows, 1), 12), 40), batch=512)

    @classmethod
    def of_tables(cls, rows: int, family: str) -> Settings:
        """A larger network, for which the cost of an answer counts for less than its error."""
        return replace(cls.for_rows(rows, family), hidden=(384, 192, 64))


def _hidden(family: str) -> tuple[int, ...]:
    """Where a larger network stands beside it, one that answers sooner."""
    return QUICK if family in AXES else HIDDEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where rows come from, as columns of ones and zeros, and the groups that a finished network tells apart."""

    codes: np.ndarray  # (rows, C)
    groups: dict[str, np.ndarray]  # name -> (C,) what it sums to
    rows_of: dict[str, np.ndarray]  # name -> indices of its rows


def fit(
    table: Table, settings: Settings, seed: int, *,
    known: bool, state: Path | None = None, progress: Progress | None = None,
) -> Network:  # fmt: skip
    """A network for the rows of a table; `known` tells GPUs apart. The same seed gives the same weights, bit for bit.

    `state` is a file that holds how far the training has come after every epoch, and that a later call goes on from.
    """
    torch.set_num_threads(1)  # threads that share a core with others wait for each other: trainings run side by side
    origin = origins(table, known)
    low, high = table.logs.min(axis=0), _highest(table)
    logs = np.minimum(table.logs, high)
    encoded = np.array([table.names.index(name) for name in table.stepped if name in table.names], dtype=np.intp)
    knots = _knots(logs[:, encoded], settings.pieces)
    x = np.concatenate([logs, pieces(logs[:, encoded], knots), origin.codes], axis=1, dtype=np.float32)
    center, scale = x.mean(axis=0), x.std(axis=0) + 1e-3
    center[-origin.codes.shape[1] :], scale[-origin.codes.shape[1] :] = 0.0, 1.0
    x -= center
    x /= scale
    course = Course([x.shape[1], *settings.hidden, 1], settings, seed, marks(table, settings, seed, known=known))
    if state is not None and state.is_file():
        course.take_up(state)
    torch.set_flush_denormal(True)  # of this thread
    try:
        course.run(x, table.target.astype(np.float32), state, progress)
    finally:
        torch.set_flush_denormal(False)  # other arithmetic needs them: a search tree of scipy's does not end without
    return _network(table, origin, course.arrays(), (low, high, encoded, knots, center, scale))


def _highest(table: Table) -> np.ndarray:
    """(D,) where inputs are cut: at their greatest; those that saturate sooner, so that larger calls are among many."""
    share = np.where([name in table.saturating for name in table.names], SATURATED, 1.0)
    found: np.ndarray = np.array([np.quantile(column, s) for column, s in zip(table.logs.T, share, strict=True)])
    return found.astype(np.float32)


def marks(table: Table, settings: Settings, seed: int, *, known: bool) -> dict[str, str]:
    """What a state notes of its training, and what only a training with the same may go on from."""
    labels = (table.engine, table.kernel, *([table.gpu] if known else []))
    texts = "\n".join([repr((table.names, table.stepped, table.saturating)), *("\t".join(label) for label in labels)])
    columns = (texts.encode(), table.logs.tobytes(), table.target.tobytes())
    rows = "".join(f"{crc32(column):08x}" for column in columns)
    return {"settings": repr(settings), "seed": str(seed), "rows": rows}


def require_same(state: Path, own: Mapping[str, str]) -> None:
    """Checks that a state is of the training that has these `marks`.

    Raises:
        FileFormatError: it is of another one, or damaged.
    """
    with _opened(state) as file:
        noted = file.metadata() or {}
    if missing := [name for name in own if name not in noted]:
        raise FileFormatError(f"{state}: not a state of training (no {missing[0]}); right would be to remove it")
    if other := [name for name, value in own.items() if noted[name] != value]:
        raise other_training(state, f"other {', '.join(other)}")


def other_training(state: Path, what: str) -> FileFormatError:
    """Of a state that is there to go on from, and cannot be."""
    return FileFormatError(
        f"{state}: the state of a training with {what}; right would be the command that it was begun with, "
        f"or this one without --resume, which begins anew"
    )


@contextmanager
def _opened(state: Path) -> Iterator[Any]:
    """The file of a state.

    Raises:
        FileFormatError: it is damaged.
    """
    try:
        with safe_open(state, "pt") as file:
            yield file
    except (SafetensorError, KeyError, RuntimeError, ValueError) as wrong:
        raise FileFormatError(f"{state}: not a state of training ({wrong}); right would be to remove it") from None


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


class Course:
    """Layers, the state of AdamW and how many epochs are done, which a file can hold and a later run take up."""

    def __init__(self, sizes: list[int], settings: Settings, seed: int, own: Mapping[str, str]) -> None:
        self.settings, self.seed, self.marks, self.epoch = settings, seed, own, 0
        draw = np.random.default_rng(seed)  # not torch's own, which other threads draw from
        self.layers = [_layer(a, b, draw) for a, b in pairwise(sizes)]
        self.parameters = [p for layer in self.layers for p in layer.parameters()]
        self.optimizer = torch.optim.AdamW(self.parameters, weight_decay=settings.weight_decay, fused=True)

    def run(self, x: np.ndarray, target: np.ndarray, path: Path | None, progress: Progress | None) -> None:
        """The epochs that are left; after each, the state goes to `path`."""
        rows, times = torch.from_numpy(x), torch.from_numpy(target)
        while self.epoch < self.settings.epochs:
            self._epoch(rows, times)
            self.epoch += 1
            if path is not None:
                self.write(path)
            if progress is not None:
                progress(self.epoch, self.settings.epochs)

    def _epoch(self, rows: Any, times: Any) -> None:
        """One pass over the rows in an order that seed and epoch alone decide."""
        size, num = self.settings.batch, max(len(rows) // self.settings.batch, 1)
        order = torch.from_numpy(np.random.default_rng((self.seed, self.epoch)).permutation(len(rows)))
        for i in range(num):
            batch = order[i * size : (i + 1) * size]
            self.optimizer.param_groups[0]["lr"] = self._rate((self.epoch + i / num) / self.settings.epochs)
            out = rows[batch]
            for layer in self.layers[:-1]:
                out = torch.relu(layer(out))
            apart = (self.layers[-1](out)[:, 0] - times[batch]).clamp(-5.0, 3.0)
            loss = (torch.exp(apart) - 1.0).abs().mean()
            self.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
            self.optimizer.step()

    def _rate(self, share: float) -> float:
        """Learning rate of one cycle: up over the first tenth, then down along a cosine (Smith, 2018)."""
        most = self.settings.learning_rate
        if share < WARM_UP:
            return most * (0.04 + 0.96 * share / WARM_UP)
        return most * max((1 + cos(pi * (share - WARM_UP) / (1 - WARM_UP))) / 2, 1e-5)

    def write(self, path: Path) -> None:
        """The state, whole or not at all."""
        moments = [self.optimizer.state[p] for p in self.parameters]
        arrays = {f"parameter_{i}": p.detach() for i, p in enumerate(self.parameters)}
        arrays |= {f"{name}_{i}": m[name] for i, m in enumerate(moments) for name in ("exp_avg", "exp_avg_sq", "step")}
        part = path.with_name(path.name + ".part")
        noted = {"epoch": str(self.epoch), **self.marks}
        save_file({name: a.contiguous() for name, a in arrays.items()}, part, noted)
        part.replace(path)

    def take_up(self, path: Path) -> None:
        """Goes on from a state that `write` left.

        Raises:
            FileFormatError: the file is damaged, or of another training.
        """
        require_same(path, self.marks)
        with _opened(path) as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            for i, p in enumerate(self.parameters):
                p.data.copy_(arrays[f"parameter_{i}"])
                self.optimizer.state[p] = {n: arrays[f"{n}_{i}"] for n in ("exp_avg", "exp_avg_sq", "step")}
            self.epoch = int(file.metadata()["epoch"])

    def arrays(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Weights and biases of the layers, for standardised inputs."""
        return [(layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy().copy()) for layer in self.layers]


def _layer(inputs: int, outputs: int, draw: np.random.Generator) -> Any:
    """A linear layer with uniform first weights within 1 / sqrt(inputs)."""
    layer = torch.nn.Linear(inputs, outputs)
    for parameter in (layer.weight, layer.bias):
        first = draw.uniform(-1, 1, tuple(parameter.shape)) / inputs**0.5
        parameter.data.copy_(torch.from_numpy(first))
    return layer


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
