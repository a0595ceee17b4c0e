"""The name that most rows of a column have."""

from __future__ import annotations

from typing import Any

import numpy as np


def most(names: Any) -> str:
    """The name of a column; of most of its rows, where they differ."""
    if isinstance(names, str):
        return names
    found, counts = np.unique(np.asarray(names).astype(str), return_counts=True)
    return str(found[counts.argmax()])
