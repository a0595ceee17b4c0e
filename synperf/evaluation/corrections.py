"""Few rows of a GPU that is left out: which they are, and the calibration record that they make.

The rows of a record are chosen by their shapes, as a user would choose what to measure; those of a correction are
drawn at random. No row that was used is scored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from zlib import crc32

import numpy as np

from ..estimators.analytical import slowest
from ..features import features
from ..hardware import GPU
from ..hardware.launch import PLAIN
from ..kernels import family
from ..measurements import Rows
from ..training.calibration_hardware import fit_hardware
from ..training.hardware_fits import FAR_FROM_RIDGE, LARGE_EXTENT, LITTLE_WORK_S, TIMES_L2
from ..training.recipe import Devices

RECORD_ROWS = {"math": 6, "dram": 6, "launch": 4}  # 16 rows, by what limits them


def record_rows(rows: Rows, gpu: GPU, seed: int) -> np.ndarray:
    """Indices of the 16 rows that a record is fitted to: random ones of those that tell its constants by their shape.

    Where too few do, those that come nearest. Test rows are left out, as every calibration leaves them out.
    """
    draw = np.random.default_rng([seed, crc32(gpu.key.encode())])
    chosen: list[int] = []
    for kind, telling in _telling(rows, gpu).items():
        count = RECORD_ROWS[kind]
        left = np.setdiff1d(np.flatnonzero(~rows.is_test), chosen)
        best = left[np.argsort(-telling[left], kind="stable")][: max(int((telling[left] >= 1).sum()), count)]
        chosen += draw.choice(best, min(count, len(best)), replace=False).tolist()
    return np.sort(np.array(chosen, dtype=np.intp))


def _telling(rows: Rows, gpu: GPU) -> dict[str, np.ndarray]:
    """How far each row is what a constant needs: 1 where it is, less where it is not, by figures of the data sheet."""
    math_s, dram_s, slowest_s, ratio = (np.empty(len(rows)) for _ in range(4))
    for _, index in rows.indices(*rows.labels()):
        part = rows.take(index)
        kind, call = family(part.family[0]), part.call()
        f = features(kind, call, gpu)
        slowest_s[index] = slowest(f, 0.0)[1]
        math_s[index] = f.flop / gpu.peak_flop_per_s(kind.math(call))
        dram_s[index], ratio[index] = f.compulsory_bytes / gpu.dram_bytes_per_s, f.compulsory_bytes / gpu.l2_bytes
    extents = [column for column in rows.fields.values() if column.dtype != object]
    least = np.minimum.reduce([column for column in extents if column.max() > 1])
    found = {
        "math": np.minimum(math_s / dram_s / FAR_FROM_RIDGE, least / LARGE_EXTENT),
        "dram": np.minimum(dram_s / math_s / FAR_FROM_RIDGE, ratio / TIMES_L2),
        "launch": LITTLE_WORK_S / slowest_s,
    }
    return {kind: np.minimum(value, 1.0) for kind, value in found.items()}


def recorded(rows: Rows, devices: Devices) -> dict[str, GPU]:
    """The devices, those of the rows with a calibration record that is fitted to their rows."""
    fitted = {
        key: replace(devices[key], calibration=fit_hardware(part, devices[key])) for (key,), part in rows.groups("gpu")
    }
    return {**devices, **fitted}


def draws(rows: Rows, most: int, times: int, seed: int) -> Iterator[list[np.ndarray]]:
    """Indices of `most` random rows of every GPU and kernel, in random order; half of them where they are few.

    A library's GEMM is one kernel whichever engine calls it; others are launched by each engine in its own way. Test
    rows are left out, as every calibration leaves them out.
    """
    fitted = np.flatnonzero(~rows.is_test)
    label = ("gpu", "kernel", "dtype") if rows.family[0] == PLAIN else ("gpu", "engine", "kernel", "dtype")
    for draw in range(times):
        yield [
            np.random.default_rng([seed, draw, crc32(".".join(names).encode())]).permutation(fitted[index])[
                : min(most, len(index) // 2)
            ]
            for names, index in rows.take(fitted).indices(*label)
        ]
