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


def fit(
    tiles: np.ndarray, waves: np.ndarray, ideal_s: np.ndarray, time_s: np.ndarray, schedule: Schedule, seed: int
) -> nn.Module:
    """Trained on log2 of the features [rows, features], for the time that the utilization leads to."""
    columns = [np.log2(tiles), waves, ideal_s / time_s]
    return train(lambda: network(tiles.shape[1]), smape, columns, schedule, seed)


def smape(net: nn.Module, x: torch.Tensor, waves: torch.Tensor, needed: torch.Tensor) -> torch.Tensor:
    """Mean of |predicted - measured| / half their sum; `needed` is the utilization that the measured time means."""
    found = utilization(net, x, waves)
    return (2 * (found - needed).abs() / (found + needed)).mean()  # the same for a time and for its inverse


def utilization(net: nn.Module, x: torch.Tensor, waves: torch.Tensor) -> torch.Tensor:
    """alpha - beta / waves, 0 < beta < alpha < 1."""
    alpha, share = torch.sigmoid(net(x)).unbind(1)
    return alpha * (1 - share / waves)


def predict(net: nn.Module, tiles: np.ndarray, waves: np.ndarray) -> np.ndarray:
    """Utilization of each row."""
    with torch.no_grad():
        x, waves_ = (torch.as_tensor(column, dtype=torch.float32) for column in (np.log2(tiles), waves))
        found: np.ndarray = utilization(net, x, waves_).numpy()
    return found.astype(np.float64)
