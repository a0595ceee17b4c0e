"""The course of one training: layers, the state of AdamW, epochs; and files that a later run goes on from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from math import cos, pi
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from ...errors import FileFormatError, MissingExtraError
from .settings import Settings

try:
    import torch
    from safetensors.torch import save_file
except ModuleNotFoundError as missing:
    raise MissingExtraError.of("training", "train") from missing

WARM_UP = 0.1
Progress = Callable[[int, int], None]  # epochs done, of all


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
        torch.set_num_threads(1)  # trainings run side by side, and threads that share a core wait for each other
        torch.set_flush_denormal(True)  # of this thread
        try:
            self._run(torch.from_numpy(x), torch.from_numpy(target), path, progress)
        finally:
            torch.set_flush_denormal(False)  # other arithmetic needs them: without, a search tree of scipy's never ends

    def _run(self, rows: Any, times: Any, path: Path | None, progress: Progress | None) -> None:
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
            rate = self._rate((self.epoch + i / num) / self.settings.epochs)
            for group in self.optimizer.param_groups:
                group["lr"] = rate * group.get("faster", 1.0)
            loss = (self._over(self.see(rows[batch]) - times[batch], batch) - 1.0).abs().mean()
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
            self.optimizer.step()

    def see(self, out: Any) -> Any:
        """(rows,) log(time / base) of standardised rows."""
        for layer in self.layers[:-1]:
            out = torch.relu(layer(out))
        return self.layers[-1](out)[:, 0]

    def _over(self, apart: Any, batch: Any) -> Any:  # noqa: ARG002
        """(rows,) the estimate over the measured time, from the logarithm of that; `batch` has their indices."""
        return torch.exp(apart.clamp(-5.0, 3.0))

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
