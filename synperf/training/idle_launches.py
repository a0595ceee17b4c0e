"""Launch floors of kernels that were timed one launch at a time, which `hardware/idle_launches.toml` holds.

    python -m synperf.training.idle_launches softmax neusight_train_softmax.parquet

prints the floor of each kernel and format among the training rows of a family, as the file has it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from .. import hardware
from ..features import features
from ..hardware.launch import floor_key
from ..kernels import family
from ..measurements import Rows
from ..measurements.files import read_files
from .recipe import by_launch

LITTLE_S = 2e-6  # of roofline: rows below have next to no work


def floors(rows: Rows) -> Iterator[tuple[str, float]]:
    """(key, seconds) of every kernel and format: the median over the GPUs of the median time of rows with little work.

    A kernel that has none on any GPU is left out.
    """
    rows = rows.take(~(rows.is_test | rows.biased))
    few = rows.take(_roofline_s(rows) < LITTLE_S)
    for (kernel, dtype), own in few.groups("kernel", "dtype"):
        medians = [float(np.median(part.time_s)) for _, part in own.groups("gpu")]
        yield floor_key(str(rows.family[0]), kernel, dtype), float(np.median(medians))


def _roofline_s(rows: Rows) -> np.ndarray:
    kind, found = family(rows.family[0]), np.empty(len(rows))
    for index, call, gpu, _ in by_launch(rows, hardware.of_keys(rows.gpu)):
        found[index] = features(kind, call, gpu).roofline_s
    return found


def main() -> None:
    """Prints the floors of the family and the files that are named."""
    name, *files = sys.argv[1:]
    for key, floor_s in floors(read_files(files, name)):
        print(f'"{key}" = {floor_s:.3g}')


if __name__ == "__main__":
    main()
