"""Predictions of measured rows, column beside column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .. import api
from ..errors import FieldError
from ..estimators import Estimate
from ..features import roofline
from ..hardware import GPU
from ..kernels import KernelFamily, family
from ..measurements import Rows
from ..numeric import concatenated
from ..training.shapes import numbered

MEASURED = "measured"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predictions:
    """One entry per measured row, in seconds. `roofline_s` is the nominal roofline: no floor, no launch.

    `shape` numbers the shapes of rows, see `training.shapes`.
    """

    measured_s: np.ndarray
    time_s: np.ndarray
    low_s: np.ndarray
    high_s: np.ndarray
    floor_s: np.ndarray
    roofline_s: np.ndarray
    is_test: np.ndarray
    shape: np.ndarray

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.measured_s)

    def take(self, rows: np.ndarray) -> Predictions:
        """Some rows: an index or a mask."""
        return Predictions(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    @classmethod
    def join(cls, parts: Sequence[Predictions]) -> Predictions:
        """One part after the other.

        Raises:
            FieldError: there is no part.
        """
        if not parts:
            raise FieldError("rows: nothing was measured on these GPUs")
        return cls(**concatenated(parts))


def predictions(rows: Rows, gpu: GPU, origin: str | None = None) -> Predictions:
    """Predictions of rows that share family, engine, kernel and formats; measured tables are without test rows.

    Raises:
        FieldError: they do not, or `origin` names no estimator.
        UnsupportedError: the GPU lacks the format.
    """
    call = rows.call()
    kind = family(rows.family[0])
    estimate = _without_test_rows(kind, call, gpu) if origin == MEASURED else api.predict(call, gpu, origin=origin)
    return Predictions(
        measured_s=rows.time_s,
        time_s=estimate.time_s,
        low_s=estimate.low_s,
        high_s=estimate.high_s,
        floor_s=estimate.floor_s,
        roofline_s=roofline(gpu, kind.math(call), kind.flop(call), kind.compulsory_bytes(call)),
        is_test=rows.is_test,
        shape=numbered(rows),
    )


def _without_test_rows(kind: KernelFamily, call: Any, gpu: GPU) -> Estimate:
    """The measured estimate from tables without the rows that it is scored on."""
    return api.measured(with_test=False)(kind, call, gpu)
