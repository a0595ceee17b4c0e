"""What one call took longer on every GPU, and no field tells: how much each had of it, and rows that had another's.

NeuSight timed the same convolutions on five GPUs. Each time holds an overhead, from none to all of what is the GPU's
own (0.28 ms on an A100, 0.76 ms on a P100): the same share on all five, whatever kernels they ran, spread
evenly, and without relation to the call's sizes. A network that is fitted to such times learns them by heart. So the
shares are fitted with a network, time = base x exp(network) + overhead of the GPU x share of the call, and another
network sees every row with the shares of other calls in the place of its own. It learns the time that is off least
on average over all shares, which is what can be known of a call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import MissingExtraError
from .course import Course, Progress
from .data import Table
from .seen import Seen
from .settings import Settings

try:
    import torch
except ModuleNotFoundError as missing:
    raise MissingExtraError.of("training", "train") from missing

COPIES = 4  # of a row, with as many shares
LEAST_GPUS = 3  # that a call was timed on: fewer do not tell a share from an error of the network
APART = 1.25  # a time without its overhead and that of the network are this far apart at most: the rest is noise
START = 0.1  # the quantile of a GPU's times that its overhead is first taken for
_FASTER = 10.0  # shares have a row of each GPU alone, and start in the middle


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Calls:
    """Rows of calls that enough GPUs timed."""

    rows: np.ndarray  # their indices in the table
    call: np.ndarray  # (len(rows),) a number of each call, from 0
    gpu: np.ndarray  # (len(rows),) and of each GPU

    @classmethod
    def of(cls, table: Table, names: tuple[str, ...]) -> Calls:
        """By the inputs of these names, which are the same on all GPUs."""
        call = _numbers(table.logs[:, [table.names.index(name) for name in names]])
        gpu = _numbers(table.gpu.astype(str))
        pairs = np.unique(np.stack([call, gpu]), axis=1)
        rows = np.flatnonzero(np.bincount(pairs[0])[call] >= LEAST_GPUS)
        return cls(rows=rows, call=_numbers(call[rows]), gpu=_numbers(gpu[rows]))


def _numbers(values: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.unique(values, axis=0, return_inverse=True)[1]
    return found.reshape(-1)


def resampled(
    table: Table, x: np.ndarray, settings: Settings, seed: int, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(rows, ...) of what a network sees, and log(time / base), each row `COPIES` times with shares of other calls.

    Once, as they are, where the settings name no inputs that tell calls apart; rows of calls that too few GPUs timed
    are copied as they are.
    """
    if not settings.shared:
        return x, table.target
    calls = Calls.of(table, settings.shared)
    if not len(calls.rows):
        return np.tile(x, (COPIES, 1)), np.tile(table.target, COPIES)
    own = table.take(calls.rows)
    found = fitted(own, calls, settings, seed, progress)
    without_s = own.time_s - found.overhead_s * found.share[calls.call]
    rest_s = np.clip(without_s, found.alone_s / APART, found.alone_s * APART)
    draw, copies = np.random.default_rng(seed), []
    for _ in range(COPIES):
        target = table.target
        other = found.share[draw.integers(len(found.share), size=len(calls.rows))]
        target[calls.rows] = np.log((rest_s + found.overhead_s * other) / own.base_s)
        copies.append(target)
    return np.tile(x, (COPIES, 1)), np.concatenate(copies)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shared:
    """What a time is made of."""

    alone_s: np.ndarray  # (rows,) without any overhead
    overhead_s: np.ndarray  # (rows,) the whole one of the row's GPU
    share: np.ndarray  # (calls,)


def fitted(
    own: Table, calls: Calls, settings: Settings, seed: int, progress: Progress | None = None
) -> Shared:  # fmt: skip
    """The parts of the times of the rows `own`, which are those of `calls`."""
    seen = Seen.of(own, settings.pieces, known=True)
    course = _Shares([seen.x.shape[1], *settings.hidden, 1], settings.of_shares, seed, own, calls)
    course.run(seen.x, own.target.astype(np.float32), None, progress)
    with torch.no_grad():
        correction = course.see(torch.from_numpy(seen.x)).numpy().astype(np.float64)
        overhead_s, share = (part.numpy().astype(np.float64) for part in (course.overhead_s(), course.share()))
    return Shared(alone_s=own.base_s * np.exp(correction), overhead_s=overhead_s[calls.gpu], share=share)


class _Shares(Course):
    """A network, the overhead of each GPU and the share of each call, fitted together."""

    def __init__(self, sizes: list[int], settings: Settings, seed: int, own: Table, calls: Calls) -> None:
        super().__init__(sizes, settings, seed, {})
        start = [np.quantile(own.time_s[calls.gpu == gpu], START) for gpu in range(calls.gpu.max() + 1)]
        self.log_s = torch.tensor(np.log(start), dtype=torch.float32, requires_grad=True)
        self.even = torch.zeros(int(calls.call.max()) + 1, requires_grad=True)  # logits, of one half at first
        self.optimizer.add_param_group({"params": [self.log_s], "weight_decay": 0.0})
        self.optimizer.add_param_group({"params": [self.even], "weight_decay": 0.0, "faster": _FASTER})
        self.time_s = torch.from_numpy(own.time_s.astype(np.float32))
        self.gpu, self.call = torch.from_numpy(calls.gpu), torch.from_numpy(calls.call)

    def overhead_s(self) -> Any:
        return torch.exp(self.log_s)

    def share(self) -> Any:
        return torch.sigmoid(self.even)

    def _over(self, apart: Any, batch: Any) -> Any:
        added_s = self.overhead_s()[self.gpu[batch]] * self.share()[self.call[batch]]
        return super()._over(apart, batch) + added_s / self.time_s[batch]
