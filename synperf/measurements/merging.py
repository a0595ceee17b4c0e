"""Measurements of one key -> one row: their median, and how far they lie apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .schema import Rows, labels_of

_OWN = ("gpu", "family", "engine", "version", "kernel", "kernel_source", "source")  # text columns of the schema


def label(family: str) -> tuple[str, ...]:
    """The columns of a key that are not numbers: those of the schema and, before the source, the family's own."""
    return (*_OWN[:-1], *labels_of(family), _OWN[-1])


def merged(
    values: Mapping[str, Any],
    numbers: Mapping[str, np.ndarray],
    time_s: np.ndarray,
    is_test: np.ndarray,
    biased: np.ndarray,
) -> Rows:
    """Rows of one label (its values by name), ordered by the number fields, measurements of one shape merged.

    A row is test or biased when one of its measurements is.
    """
    order = np.lexsort((time_s, *reversed(list(numbers.values()))))
    columns, times = {name: column[order] for name, column in numbers.items()}, time_s[order]
    is_first = np.ones(len(times), dtype=bool)
    is_first[1:] = np.any([column[1:] != column[:-1] for column in columns.values()], axis=0)
    first = np.flatnonzero(is_first)
    samples = np.diff(np.append(first, len(times)))
    median = (times[first + (samples - 1) // 2] + times[first + samples // 2]) / 2
    text = {name: np.full(len(first), value, dtype=object) for name, value in values.items()}
    own = {name: text.pop(name) for name in _OWN}
    return Rows(
        fields={name: column[first] for name, column in columns.items()} | text,
        time_s=median,
        spread=(times[first + samples - 1] - times[first]) / 2 / median,
        samples=samples,
        is_test=np.logical_or.reduceat(is_test[order], first),
        biased=np.logical_or.reduceat(biased[order], first),
        **own,
    )
