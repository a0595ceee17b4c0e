"""Few rows of a GPU that is left out: which they are, and the calibration record that they make.

The rows of a record are chosen by their shapes, as a user would choose what to measure; those of a correction are
drawn at random. No row that was used is scored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any
from zlib import crc32

import numpy as np

from ..features import features
from ..hardware import GPU, Calibration
from ..kernels import family
from ..measurements import Rows
from ..training.recipe import Devices

RECORD_ROWS = 16
LIMITED = 1.0
MARGIN = 4.0  # a pipe limits a row clearly where it takes so many times as long as the other


def record_rows(rows: Rows, gpu: GPU, seed: int) -> np.ndarray:
    """Indices of the 16 rows that a record is fitted to: 6 that math limits, 6 that DRAM limits, 4 of little work.

    They are drawn from the few per cent that are most of each kind, by figures that need no measurement.
    """
    draw = np.random.default_rng([seed, crc32(gpu.key.encode())])
    math_s, dram_s = _published_s(rows, gpu)
    little = LIMITED / np.maximum(math_s, dram_s)  # the shortest first
    chosen: list[int] = []
    for score, count in ((_limited(math_s, dram_s), 6), (_limited(dram_s, math_s), 6), (little, 4)):
        left = np.setdiff1d(np.arange(len(rows)), chosen)
        clear = max(int((score >= LIMITED).sum()), count)
        best = left[np.argsort(-score[left], kind="stable")][: min(max(len(rows) // 50, 4 * count), clear)]
        chosen += draw.choice(best, min(count, len(best)), replace=False).tolist()
    return np.sort(np.array(chosen, dtype=np.intp))


def _limited(wanted_s: np.ndarray, other_s: np.ndarray) -> np.ndarray:
    """How long a row is in the pipe that clearly limits it; of others, next to nothing, in the order of the ratio."""
    ratio = wanted_s / other_s
    found: np.ndarray = np.where(ratio >= MARGIN, LIMITED + wanted_s, LIMITED * ratio / MARGIN)
    return found


def _published_s(rows: Rows, gpu: GPU) -> tuple[np.ndarray, np.ndarray]:
    """(math, DRAM) seconds at published rates."""
    math_s, dram_s = np.empty(len(rows)), np.empty(len(rows))
    for _, index in rows.indices("engine", "kernel", "dtype"):
        call = rows.take(index).call()
        f = features(family(rows.family[0]), call, gpu)
        math_s[index], dram_s[index] = (
            f.flop / gpu.peak_flop_per_s(call.dtype),
            f.compulsory_bytes / gpu.dram_bytes_per_s,
        )
    return math_s, dram_s


def recorded(rows: Rows, devices: Devices) -> dict[str, GPU]:
    """The devices, those of the rows with a calibration record that is fitted to their rows."""
    fitted = {
        key: replace(devices[key], calibration=fit_record(part, devices[key])) for (key,), part in rows.groups("gpu")
    }
    return {**devices, **fitted}


def draws(rows: Rows, most: int, times: int, seed: int) -> Iterator[list[np.ndarray]]:
    """Indices of `most` random rows of every GPU and kernel, in random order; half of them where they are few."""
    for draw in range(times):
        yield [
            np.random.default_rng([seed, draw, crc32(".".join(label).encode())]).permutation(index)[
                : min(most, len(index) // 2)
            ]
            for label, index in rows.indices("gpu", "kernel", "dtype")
        ]


def fit_record(rows: Rows, gpu: GPU) -> Calibration:
    """The calibration record that a user would get from these rows."""
    found: Calibration = _calibration("calibration_hardware").fit_hardware(rows, gpu)
    return found


def _calibration(module: str) -> Any:
    return import_module(f"synperf.training.{module}")
