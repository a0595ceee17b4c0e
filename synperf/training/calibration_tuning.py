"""A GPU's sustained rates and launch floors, moved to where the network's estimate of its rows has the least error.

The network knows how a time follows from the rates; so a few rows of any shape tell the rates through it, where the
few that reach a rate directly may not come near it. Each value is pulled to where it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ..estimators import learned
from ..estimators.calibration_file import pool_of
from ..estimators.inputs import inputs, logarithms, sustained
from ..estimators.network import Network
from ..estimators.weights import Weights
from ..features import Features, features
from ..hardware import GPU
from ..hardware.launch import PLAIN, floor_key
from ..hardware.records import typical_shares
from ..kernels import KernelFamily
from ..measurements import Rows
from .calibration_hardware import fit_hardware, impossible
from .calibration_rows import launches

PULL = 0.1  # a value that moves by a tenth costs as much as
PULL_COST = 0.1  # this much error of one row
STEPS = (0.2, 0.1, 0.1, 0.05)  # of the logarithm
SHARES = ("clock_share", "dram_share")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """Rows that one call can hold with what does not depend on rates, and where they are among all."""

    kind: KernelFamily
    call: Any
    features: Features
    network: Network
    network_name: str
    group: int
    index: np.ndarray
    pool: str  # whose residual part it shares
    time_s: np.ndarray  # measured
    tried: dict[tuple[float, float, float], np.ndarray] = field(default_factory=dict)  # errors by shares and floor

    @property
    def floor(self) -> str:
        """The kernel and format whose launch floor it has, as records call them."""
        return floor_key(self.kind.name, self.call.kernel, self.call.dtype)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Seen:
    """What the network says of rows at some rates: columns of one length; a row that no network has is nan."""

    base_s: np.ndarray
    floor_s: np.ndarray
    correction: np.ndarray
    logs: np.ndarray
    hidden: np.ndarray

    def error(self, time_s: np.ndarray) -> np.ndarray:
        """(rows,) absolute relative error."""
        found = np.maximum(self.base_s * np.exp(self.correction), self.floor_s)
        error: np.ndarray = np.abs(found / time_s - 1.0)
        return error


def parts_of(rows: Rows, gpu: GPU, weights: Weights) -> list[Part]:
    """The rows that some network answers for, by what one call can hold."""
    found = []
    for index, kind, call in launches(rows):
        want = learned.of_any_balance(learned.wanted(kind, call, gpu))
        choice = learned.choose(weights, want)
        if choice is not None:
            at = next(i for i, network in enumerate(weights.networks) if network is choice.network)
            found.append(
                Part(
                    kind=kind, call=call, features=features(kind, call, gpu), network=choice.network,
                    network_name=weights.card.networks[at].name, group=choice.group, index=index,
                    pool=pool_of(want.kernel, call.dtype, want.variant), time_s=rows.time_s[index],
                )
            )  # fmt: skip
    return found


def seen(parts: list[Part], gpu: GPU, size: int) -> Seen:
    """What the networks say of `size` rows on a GPU."""
    networks = [part.network for part in parts]
    depth, width = max(len(n.inputs) for n in networks), max(len(n.weights[-1]) for n in networks)
    base, floor, correction = (np.full(size, np.nan) for _ in range(3))
    logs, hidden = np.zeros((size, depth), np.float32), np.zeros((size, width), np.float32)
    for part in parts:
        rates = sustained(gpu, part.kind.name, part.call.kernel, part.call.dtype)
        base_s, named = inputs(part.kind, part.call, gpu, part.features, rates)
        own = logarithms(named, base_s)
        last, correction[part.index] = part.network.see(own, part.group)
        base[part.index], floor[part.index] = base_s, part.features.floor_s
        logs[part.index, : own.shape[1]], hidden[part.index, : last.shape[1]] = own, last
    return Seen(base_s=base, floor_s=floor, correction=correction, logs=logs, hidden=hidden)


def adapted(rows: Rows, parts: list[Part], gpu: GPU, use: np.ndarray) -> GPU:
    """The GPU as the rows of the mask `use` have it: tuned, from what they measure directly where that is nearer."""
    measured = replace(gpu, calibration=fit_hardware(rows.take(use), gpu))
    total = [sum(float(errors(part, one)[use[part.index]].sum()) for part in parts) for one in (gpu, measured)]
    return tuned(parts, measured if total[1] < total[0] else gpu, use)


def tuned(parts: list[Part], gpu: GPU, use: np.ndarray) -> GPU:
    """The GPU with the rates of least error on the rows of the mask `use`."""
    own = [part for part in parts if use[part.index].any()]
    if not own:
        return gpu
    keys = sorted({part.floor for part in own})
    x = np.zeros(len(SHARES) + len(keys))
    best = _cost(own, gpu, keys, x, use)
    for step in STEPS:
        for i in range(len(x)):
            for move in (-step, step):
                tried = x.copy()
                tried[i] += move
                cost = _cost(own, gpu, keys, tried, use)
                if cost < best:
                    best, x = cost, tried
    return moved(gpu, own, keys, x)


def moved(gpu: GPU, parts: list[Part], keys: list[str], x: np.ndarray) -> GPU:
    """The GPU with shares and the launch floors of `keys` times exp(x)."""
    record, typical = gpu.calibration, typical_shares()
    clock, dram = (
        float((getattr(record, name) or typical[name]) * np.exp(by)) if by else getattr(record, name)
        for name, by in zip(SHARES, x, strict=False)
    )
    floors: dict[str, float] = {}
    first = {part.floor: part for part in reversed(parts)}
    for key, by in zip(keys, x[len(SHARES) :], strict=True):
        if by:
            part = first[key]
            floor_s = sustained(gpu, part.kind.name, part.call.kernel, part.call.dtype).launch_s
            floors[key] = floor_s * float(np.exp(by))
    merged: Mapping[str, float] = MappingProxyType({**record.launch_floor_s, **floors})
    found = replace(record, launch_floor_s=merged, clock_share=clock, dram_share=dram)
    return replace(gpu, calibration=found)


def errors(part: Part, gpu: GPU) -> np.ndarray:
    """(rows,) absolute relative errors of the network's answers at the rates of a GPU; what was tried once is kept."""
    rates = sustained(gpu, part.kind.name, part.call.kernel, part.call.dtype)
    at = (rates.clock_share, rates.dram_share, rates.launch_s)
    if at not in part.tried:
        base_s, named = inputs(part.kind, part.call, gpu, part.features, rates)
        ratio = np.exp(part.network.correction(logarithms(named, base_s), part.group))
        part.tried[at] = np.abs(np.maximum(base_s * ratio, part.features.floor_s) / part.time_s - 1.0)
    return part.tried[at]


def _cost(parts: list[Part], gpu: GPU, keys: list[str], x: np.ndarray, use: np.ndarray) -> float:
    """Sum of the errors of the rows in use, and what the moves cost; infinite at rates that such rows cannot tell.

    GEMMs tell a GPU's rates, and by them rows of another GPU. What rows of other families say beyond the published
    rates is L2's doing: K and V that stay there while calls are repeated.
    """
    at = moved(gpu, parts, keys, x)
    if parts[0].kind.name != PLAIN and impossible(at):
        return float("inf")
    total = sum(float(errors(part, at)[use[part.index]].sum()) for part in parts)
    return total + PULL_COST * float(((x / PULL) ** 2).sum())
