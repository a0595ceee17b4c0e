"""How much of the times of calls is an overhead that all GPUs share, and what error it leaves to any estimate.

    python -m synperf.training.shared_overhead conv neusight_train_conv.parquet

prints, of the training rows of a family of `SHARED` (see `learned/shared.py`), the overhead of each GPU, the least mean
error that an estimate can have which knows all but the share that a call had of it, and how the shares are spread.
"""

from __future__ import annotations

import sys

import numpy as np

from .. import hardware
from ..measurements.files import read_files
from .learned.data import Table, table
from .learned.settings import SHARED, Settings
from .learned.shared import Calls, Shared, fitted

SEED = 42
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
MOST = 200  # quantiles that stand for all shares


def least_errors(found: Shared) -> np.ndarray:
    """(rows,) the mean over all shares of the relative error of the best time: the median, weighted by 1 / time."""
    share = np.quantile(found.share, (np.arange(MOST) + 0.5) / MOST)
    time_s = found.alone_s[:, None] + found.overhead_s[:, None] * share
    weight = np.cumsum(1 / time_s, axis=1)
    best = np.argmax(weight >= weight[:, -1:] / 2, axis=1)
    errors: np.ndarray = np.abs(time_s[np.arange(len(time_s)), best][:, None] / time_s - 1).mean(axis=1)
    return errors


def of_file(family: str, files: list[str]) -> tuple[Table, Shared]:
    """Training rows of calls that enough GPUs timed, and what their times are made of."""
    rows = read_files(files, family)
    rows = rows.take(~(rows.is_test | rows.biased))
    data = table(rows, hardware.of_keys(rows.gpu))
    calls = Calls.of(data, SHARED[family])
    own = data.take(calls.rows)
    return own, fitted(own, calls, Settings.for_rows(len(own), family), SEED)


def main() -> None:
    """Prints what is in the times of the family and the files that are named."""
    family, *files = sys.argv[1:]
    own, found = of_file(family, files)
    errors = least_errors(found)
    for gpu in sorted(set(own.gpu)):
        here = own.gpu == gpu
        print(f"{gpu:12} overhead {found.overhead_s[here][0] * 1e3:.2f} ms, least mean error {errors[here].mean():.1%}")
    print(f"{'all':12} least mean error {errors.mean():.1%}")
    spread = ", ".join(f"{np.quantile(found.share, q):.2f} ({q:.0%})" for q in QUANTILES)
    print(f"shares of calls, by quantile: {spread}")


if __name__ == "__main__":
    main()
