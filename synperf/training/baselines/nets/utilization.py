"""NeuSight's network: features of one tile -> the two numbers that the utilization of a GPU is made of."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from .schedule import Schedule
from .training import train

WIDTH, DEPTH = 128, 3


def network(inputs: int) -> nn.Sequential:
    """Hidden layers with ReLU, and two outputs without."""
    layers: list[nn.Module] = [nn.Linear(inputs, WIDTH), nn.ReLU()]
    for _ in range(DEPTH - 1):
        layers += [nn.Linear(WIDTH, WIDTH), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(WIDTH, 2))


def fit(table: np.ndarray, needed: np.ndarray, schedule: Schedule, seed: int) -> nn.Module:
    """Trained on waves and log2 of the features [rows, 1 + features], and the utilization that each time means."""
    return train(lambda: network(table.shape[1] - 1), smape, [*_seen(table), needed], schedule, seed)


def smape(net: nn.Module, x: torch.Tensor, waves: torch.Tensor, needed: torch.Tensor) -> torch.Tensor:
    """Mean of |predicted - measured| / half their sum; `needed` is the utilization that the measured time means."""
    found = utilization(net, x, waves)
    return (2 * (found - needed).abs() / (found + needed)).mean()  # the same for a time and for its inverse


def utilization(net: nn.Module, x: torch.Tensor, waves: torch.Tensor) -> torch.Tensor:
    """alpha - beta / waves, 0 < beta < alpha < 1."""
    alpha, share = torch.sigmoid(net(x)).unbind(1)
    return alpha * (1 - share / waves)


def predict(net: nn.Module, table: np.ndarray) -> np.ndarray:
    """Utilization of each row."""
    with torch.no_grad():
        found: np.ndarray = utilization(net, *(torch.as_tensor(c, dtype=torch.float32) for c in _seen(table))).numpy()
    return found.astype(np.float64)


def _seen(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the network sees of a tile, and waves."""
    return np.log2(table[:, 1:]), table[:, 0]
