"""Few rows of a GPU that is left out: which they are, and what a calibration makes of them.

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
from ..training.recipe import Devices, Predictor

RECORD_ROWS = 16
MARGIN = 4  # a pipe limits a row clearly where it takes so many times as long as the other


def record_rows(rows: Rows, gpu: GPU, seed: int) -> np.ndarray:
    """Indices of the 16 rows that a record is fitted to: 6 that math limits, 6 that DRAM limits, 4 of little work.

    They are drawn from the fiftieth of the rows that is most of each kind, by figures that need no measurement.
    """
    draw = np.random.default_rng([seed, crc32(gpu.key.encode())])
    math_s, dram_s = _published_s(rows, gpu)
    chosen: list[int] = []
    for score, count in ((_margin(math_s, dram_s), 6), (_margin(dram_s, math_s), 6), (-np.maximum(math_s, dram_s), 4)):
        left = np.setdiff1d(np.arange(len(rows)), chosen)
        best = left[np.argsort(-score[left], kind="stable")][: max(len(rows) // 50, 4 * count)]
        chosen += draw.choice(best, min(count, len(best)), replace=False).tolist()
    return np.sort(np.array(chosen, dtype=np.intp))


def _margin(wanted_s: np.ndarray, other_s: np.ndarray) -> np.ndarray:
    """How long a row is in one pipe, 0 where it does not limit it clearly."""
    found: np.ndarray = np.where(wanted_s >= MARGIN * other_s, wanted_s, 0.0)
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


def corrected(predictor: Predictor, rows: Rows, devices: Devices) -> Predictor:
    """The predictor with a factor of every GPU and kernel: the median of measured over predicted time of the rows."""
    factors = {
        label: float(np.median(rows.time_s[index] / predictor(rows.take(index), devices)))
        for label, index in rows.indices("gpu", "kernel", "dtype")
    }

    def predict(asked: Rows, devices: Devices) -> np.ndarray:
        time_s = predictor(asked, devices)
        for label, index in asked.indices("gpu", "kernel", "dtype"):
            time_s[index] *= factors.get(label, 1.0)
        return time_s

    return predict


def _calibration(module: str) -> Any:
    return import_module(f"synperf.training.{module}")
