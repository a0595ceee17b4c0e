"""The paper's tables: their files by split, and the predictions of its artifact that the FP8 table holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FieldError, MissingExtraError
from ..hardware.names import resolve
from ..measurements import Rows
from ..training.recipe import Devices, Predictor, Recipe
from .splits import PAPER_FP8, PAPER_MOE, PAPER_MOE_SHAPES

_SAMPLES = ("pipeweave_kernel_samples.parquet",)
FILES: Mapping[str, tuple[str, ...]] = {
    PAPER_FP8: ("pipeweave_gemm_fp8_train.parquet", "pipeweave_gemm_fp8_test.parquet"),
    PAPER_MOE: _SAMPLES,
    PAPER_MOE_SHAPES: _SAMPLES,
}
PREDICTION = "pipeweave_pred_us"
_KEY = ("gpu", "m", "n", "k")


def files(split: str, folder: Path) -> tuple[Path, ...]:
    """The files of a folder that a split reads.

    Raises:
        FieldError: one is not there.
    """
    found = tuple(folder / name for name in FILES[split])
    missing = [path.name for path in found if not path.is_file()]
    if missing:
        raise FieldError(f"data: {folder} has no {missing[0]}; right would be the folder of PipeWeave's tables")
    return found


def artifact(paths: Iterable[Path]) -> Recipe | None:
    """What the paper's released model said of the rows of these files, as a recipe that fits nothing; None without.

    Raises:
        MissingExtraError: the extra [data] is not installed.
    """
    said: dict[tuple[Any, ...], float] = {}
    for path in paths:
        said |= _predictions(path)
    if not said:
        return None

    def predict(rows: Rows, _: Devices) -> np.ndarray:
        calls = zip(rows.gpu, *(rows.fields[name].tolist() for name in _KEY[1:]), strict=True)
        return np.array([said.get(call, np.nan) for call in calls])

    def fit(_rows: Rows, _devices: Devices, _seed: int) -> Predictor:
        return predict

    return Recipe(name="artifact", summary="what the paper's released model predicted", fit=fit)


def _predictions(path: Path) -> dict[tuple[Any, ...], float]:
    """Seconds by GPU key and extents; empty for a file without predictions."""
    try:
        polars = import_module("polars")
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of("reading parquet", "data") from missing
    if path.suffix != ".parquet" or PREDICTION not in polars.read_parquet_schema(path):
        return {}
    frame = polars.read_parquet(path, columns=[*_KEY, PREDICTION])
    keys = {name: resolve(name)[0] for name in frame["gpu"].unique().to_list()}
    return {(keys[gpu], m, n, k): us * 1e-6 for gpu, m, n, k, us in frame.iter_rows()}
