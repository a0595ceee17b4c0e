"""Shapes among rows: what a split, or a cross-validation, leaves out whole."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from ..kernels import family
from ..measurements import Rows


def shapes(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """(distinct shapes, which of them each row has): of a GEMM, n x k of its weights; see `KernelFamily.shape`."""
    columns = [rows.fields[name] for name in family(rows.family[0]).shape]
    found, which = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return found, which.reshape(-1)


def numbered(rows: Rows) -> np.ndarray:
    """(rows,) a number that the shape alone decides (of a GEMM, n x k of its weights), the crc32 of its name."""
    found, which = shapes(rows)
    names = ["x".join(str(int(extent)) for extent in shape) for shape in found]
    numbers = np.array([crc32(f"held out {name}".encode()) for name in names], dtype=np.uint32)
    own: np.ndarray = numbers[which]
    return own
