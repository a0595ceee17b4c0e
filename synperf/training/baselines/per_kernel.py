"""What most baselines share: a table with a line per measured row, and one model for each kernel and format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from ...errors import FieldError, MissingExtraError
from ...hardware import GPU
from ...measurements import Rows
from ...numeric import Number
from ..recipe import Devices, Predictor, by_launch

Key = tuple[str, str]  # kernel and format
Columns = Callable[[Any, GPU], Sequence[Number]]  # of a call that holds columns
FitOne = Callable[[np.ndarray, np.ndarray], Any]  # (table, measured seconds) -> model
TimeOf = Callable[[Any, np.ndarray], np.ndarray]  # (model, table) -> seconds


@dataclass(frozen=True, slots=True)
class Models:
    """One model for each kernel and format, those of most training rows first."""

    by_key: Mapping[Key, Any]

    @classmethod
    def of(cls, models: Mapping[Key, Any], num_rows: Mapping[Key, int]) -> Models:
        """Models in the order of their numbers of rows; of equal ones, in that of the names.

        Raises:
            FieldError: there is none.
        """
        if not models:
            raise FieldError("rows: there are no training rows")
        return cls({key: models[key] for key in sorted(models, key=lambda key: (-num_rows[key], key))})

    def __getitem__(self, key: Key) -> Any:
        """The model of that kernel and format.

        Without one, that of the same format with most training rows; without that, the one with most of all.
        """
        if key in self.by_key:
            return self.by_key[key]
        same_format = [model for (_, dtype), model in self.by_key.items() if dtype == key[1]]
        return (same_format or list(self.by_key.values()))[0]


def per_kernel(rows: Rows, devices: Devices, columns: Columns, fit: FitOne, time_of: TimeOf) -> Predictor:
    """Fits one model to the table of each kernel and format, pooled over GPUs and engines.

    Raises:
        FieldError: there are no training rows.
    """
    parts: dict[Key, list[tuple[np.ndarray, np.ndarray]]] = {}
    for _, call, gpu, part in by_launch(rows, devices):
        parts.setdefault(key_of(call), []).append((_table(columns, call, gpu, len(part)), part.time_s))
    joined = {key: [np.concatenate(column) for column in zip(*of_key, strict=True)] for key, of_key in parts.items()}
    models = Models.of(
        {key: fit(table, time_s) for key, (table, time_s) in joined.items()},
        {key: len(time_s) for key, (_, time_s) in joined.items()},
    )

    def predict(rows: Rows, devices: Devices) -> np.ndarray:
        found = np.empty(len(rows))
        for index, call, gpu, _ in by_launch(rows, devices):
            found[index] = time_of(models[key_of(call)], _table(columns, call, gpu, len(index)))
        return found

    return predict


def key_of(call: Any) -> Key:
    """Kernel and format of a call."""
    return str(call.kernel), str(call.dtype)


def _table(columns: Columns, call: Any, gpu: GPU, size: int) -> np.ndarray:
    """The columns of one launch as [rows, columns]; a number stands for all rows."""
    return np.stack([np.broadcast_to(column, size) for column in columns(call, gpu)], axis=1).astype(np.float64)


def optional(module: str, what: str) -> Any:
    """A module that needs a package of the extra [train], imported on first use.

    Raises:
        MissingExtraError: the package is not installed; `what` names what needs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of(what, "train") from missing
