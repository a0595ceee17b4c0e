"""The paper's network: a vector of features -> efficiency in (0, 1)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from torch import nn

from .schedule import Schedule
from .training import train

WIDTHS = (256, 128, 64)
DROPOUT = 0.1
EPSILON = 1e-9


def network(inputs: int) -> nn.Sequential:
    """inputs-256-128-64-1 with (Linear, ReLU, BatchNorm, Dropout) three times, then Linear and Sigmoid."""
    layers: list[nn.Module] = []
    for narrow, wide in pairwise((inputs, *WIDTHS)):
        layers += [nn.Linear(narrow, wide), nn.ReLU(), nn.BatchNorm1d(wide), nn.Dropout(DROPOUT)]
    return nn.Sequential(*layers, nn.Linear(WIDTHS[-1], 1), nn.Sigmoid())


def fit(vectors: np.ndarray, efficiency: np.ndarray, schedule: Schedule, seed: int) -> nn.Module:
    """Trained on log1p of the vectors [rows, entries] and the efficiency of each row."""
    return train(lambda: network(vectors.shape[1]), mape, [np.log1p(vectors), efficiency], schedule, seed)


def mape(net: nn.Module, x: torch.Tensor, efficiency: torch.Tensor) -> torch.Tensor:
    """Mean absolute error of the efficiency, relative to it."""
    found: torch.Tensor = net(x)[:, 0]
    return ((found - efficiency).abs() / (efficiency.abs() + EPSILON)).mean()


def predict(net: nn.Module, vectors: np.ndarray) -> np.ndarray:
    """Efficiency of each row; 0 where the sigmoid saturates."""
    with torch.no_grad():
        found: np.ndarray = net(torch.as_tensor(np.log1p(vectors), dtype=torch.float32))[:, 0].numpy()
    return found.astype(np.float64)
