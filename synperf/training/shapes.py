"""Shapes among rows: what a split, or a cross-validation, leaves out whole."""

from __future__ import annotations

import numpy as np

from ..kernels import family
from ..measurements import Rows


def shapes(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """(distinct shapes, which of them each row has): of a GEMM, n x k of its weights; see `KernelFamily.shape`."""
    columns = [rows.fields[name] for name in family(rows.family[0]).shape]
    found, which = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return found, which.reshape(-1)
