"""The loop that trains a network: shuffled batches of tensors that are already in memory."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from itertools import takewhile
from math import inf
from time import monotonic

import numpy as np
import torch

from ....errors import FieldError
from .schedule import Schedule

LEAST_ROWS = 5
Loss = Callable[..., torch.Tensor]  # (network, column, ...) -> mean over the rows


def train(
    build: Callable[[], torch.nn.Module], loss: Loss, columns: list[np.ndarray], schedule: Schedule, seed: int
) -> torch.nn.Module:
    """The network with the least validation loss of any epoch, ready to predict.

    The seed sets weights, split, batches and dropout, and the generator of torch is left as it was.

    Raises:
        FieldError: fewer rows than a split into training and validation needs.
    """
    if len(columns[0]) < LEAST_ROWS:
        raise FieldError(f"rows: a network needs {LEAST_ROWS} of a kernel and format, got {len(columns[0])}")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _train(build(), loss, [torch.as_tensor(c, dtype=torch.float32) for c in columns], schedule)


def _train(net: torch.nn.Module, loss: Loss, columns: list[torch.Tensor], schedule: Schedule) -> torch.nn.Module:
    order = torch.randperm(len(columns[0]))
    held = max(1, round(schedule.validation_share * len(order)))
    validation, training = ([c[part] for c in columns] for part in (order[:held], order[held:]))
    optimizer = torch.optim.AdamW(net.parameters(), lr=schedule.learning_rate, weight_decay=schedule.weight_decay)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, factor=schedule.decay, patience=schedule.decay_patience, min_lr=schedule.least_learning_rate
    )
    best_loss, best_epoch, best = inf, 0, deepcopy(net.state_dict())
    end = inf if schedule.minutes is None else monotonic() + 60 * schedule.minutes
    for epoch in takewhile(lambda _: monotonic() < end, range(schedule.max_epochs)):
        _epoch(net, loss, training, optimizer, schedule)
        found = _validate(net, loss, validation)
        plateau.step(found)
        if found < best_loss:
            best_loss, best_epoch, best = found, epoch, deepcopy(net.state_dict())
        if epoch - best_epoch >= schedule.stop_patience:
            break
    net.load_state_dict(best)
    return net.eval()


def _epoch(
    net: torch.nn.Module,
    loss: Loss,
    columns: list[torch.Tensor],
    optimizer: torch.optim.Optimizer,
    schedule: Schedule,
) -> None:
    """One pass over the rows; a last batch of one row is passed over, since it has no variance to normalise with."""
    net.train()
    for batch in torch.split(torch.randperm(len(columns[0])), schedule.batch):
        if len(batch) > 1:
            optimizer.zero_grad()
            torch.autograd.backward(loss(net, *(column[batch] for column in columns)))
            torch.nn.utils.clip_grad_norm_(net.parameters(), schedule.gradient_norm)
            optimizer.step()


def _validate(net: torch.nn.Module, loss: Loss, columns: list[torch.Tensor]) -> float:
    net.eval()
    with torch.no_grad():
        return float(loss(net, *columns))
