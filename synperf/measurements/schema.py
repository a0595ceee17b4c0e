"""The one schema of measured rows, whatever file they come from.

Text columns are object arrays whose equal values are one and the same string, so that they cost a pointer a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any
from zlib import crc32

import numpy as np

from ..errors import FieldError
from ..kernels import family
from ..numeric import concatenated

TEST_MODULUS = 5
NUMBERS: Mapping[str, tuple[str, ...]] = {
    "gemm": ("m", "n", "k", "batch")
}  # number fields of measured calls, by family


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Measured times: columns of one length, one row for each key (everything but times, spread and samples).

    `fields` are the columns of the family's call, under its names: m, n, k, batch, dtype for gemm.
    `time_s` is the median of the measurements of one key and `spread` their relative half-spread,
    (max - min) / 2 / median: 0 where there is one. `is_test` is the published split: rows that no fit may see.
    `biased` rows were chosen by a model's error or for being fast or slow: never to be fitted to or scored on alone.
    Rows that are made without that column are not.
    """

    gpu: np.ndarray
    family: np.ndarray
    engine: np.ndarray
    version: np.ndarray
    kernel: np.ndarray  # canonical name
    kernel_source: np.ndarray  # as the file has it
    fields: Mapping[str, np.ndarray]
    time_s: np.ndarray
    spread: np.ndarray
    samples: np.ndarray
    is_test: np.ndarray
    source: np.ndarray  # file
    biased: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def __post_init__(self) -> None:
        if not len(self.biased):
            object.__setattr__(self, "biased", np.zeros(len(self), dtype=bool))

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.time_s)

    def column(self, name: str) -> np.ndarray:
        """A column of the schema or of the family's fields, by name."""
        found: np.ndarray = self.fields[name] if name in self.fields else getattr(self, name)
        return found

    def take(self, rows: np.ndarray | slice) -> Rows:
        """Some rows: an index, a mask or a slice."""
        return Rows(
            fields={name: column[rows] for name, column in self.fields.items()},
            **{name: getattr(self, name)[rows] for name in _COLUMNS},
        )

    def groups(self, *names: str) -> Iterator[tuple[tuple[str, ...], Rows]]:
        """(values, rows) for every combination of values of text columns that occurs, in sorted order."""
        for values, index in self.indices(*names):
            yield values, self.take(index)

    def indices(self, *names: str) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
        """(values, where the rows are) for every combination of values of text columns, in sorted order."""
        codes = np.zeros(len(self), dtype=np.intp)
        values: list[tuple[str, ...]] = [()] if len(self) else []
        for name in names:
            codes, values = _refine(codes, values, self.column(name))
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(len(values) + 1))
        for i in sorted(range(len(values)), key=values.__getitem__):
            yield values[i], order[bounds[i] : bounds[i + 1]]

    def call(self) -> Any:
        """The rows as one call that holds columns.

        Raises:
            FieldError: rows of two families, engines, kernels or formats, which no call can hold.
        """
        values = {name: _one(name, col) if col.dtype == object else col for name, col in self.fields.items()}
        engine, kernel = _one("engine", self.engine), _one("kernel", self.kernel)
        return family(_one("family", self.family)).call_type(engine=engine, kernel=kernel, **values)

    @classmethod
    def join(cls, parts: Sequence[Rows]) -> Rows:
        """Rows of one family, one part after the other.

        Raises:
            FieldError: there is no part.
        """
        if not parts:
            raise FieldError("rows: there are none to join")
        return cls(
            fields={name: np.concatenate([part.fields[name] for part in parts]) for name in parts[0].fields},
            **concatenated(parts),
        )


_COLUMNS = tuple(f.name for f in fields(Rows) if f.name != "fields")


def is_gemm_test(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Whether a GEMM row is a new-shape test row: crc32 of `{n}x{k}`, as stored, leaves no remainder by 5."""
    shapes, which = np.unique(n.astype(np.int64) * 2**32 + k.astype(np.int64), return_inverse=True)
    held = [crc32(f"{nk >> 32}x{nk & 0xFFFFFFFF}".encode()) % TEST_MODULUS == 0 for nk in shapes.tolist()]
    return np.array(held, dtype=bool)[which]


def is_call_test(calls: Iterable[Sequence[Any]]) -> np.ndarray:
    """Whether a row of a source without a test file is a test row: crc32 of the fields of its call leaves no remainder
    by 5. The fields are in the order of the family, decimal, joined by `x`: `128x4096x4096x1xfp16`.
    """
    held = [crc32("x".join(map(str, call)).encode()) % TEST_MODULUS == 0 for call in calls]
    return np.array(held, dtype=bool)


def _one(name: str, column: np.ndarray) -> str:
    first = column[0]
    if not (column == first).all():
        raise FieldError(f"{name}: a call holds one, the rows have {', '.join(sorted(set(column)))}")
    return str(first)


def _refine(
    codes: np.ndarray, values: list[tuple[str, ...]], column: np.ndarray
) -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """Codes that tell apart what `codes` and the column tell apart, and the values behind each code."""
    names: dict[str, int] = {}
    own = np.fromiter((names.setdefault(value, len(names)) for value in column), dtype=np.intp, count=len(column))
    texts = list(names)
    pairs, refined = np.unique(codes * max(len(texts), 1) + own, return_inverse=True)
    split = [divmod(pair, len(texts)) for pair in pairs.tolist()]
    return refined, [(*values[code], texts[text]) for code, text in split]
