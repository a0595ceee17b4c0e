"""The one schema of measured serving points: what a server with so many clients at once had for mean times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Setup(NamedTuple):
    """What serves: points of one setup differ in their load alone."""

    model: str
    dtype: str
    gpu: str
    engine: str
    tp: int
    pp: int
    dp: int
    ep: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Points:
    """Points in rows, as columns of one length.

    `model` is a name of the catalog, `family` what it is kin to, `dtype` the format of weights where it is not that of
    the checkpoint (empty: it is). `source` names whose measurements they are.
    `concurrency` clients ask at once; `isl` and `osl` are nominal tokens of prompt and answer. `ttft_s` and `tpot_s`
    are means over all requests, those of the start among them.
    """

    name: npt.NDArray[Any]
    model: npt.NDArray[Any]
    family: npt.NDArray[Any]
    dtype: npt.NDArray[Any]
    gpu: npt.NDArray[Any]
    engine: npt.NDArray[Any]
    version: npt.NDArray[Any]
    source: npt.NDArray[Any]
    tp: npt.NDArray[np.int64]
    pp: npt.NDArray[np.int64]
    dp: npt.NDArray[np.int64]
    ep: npt.NDArray[np.int64]
    isl: npt.NDArray[np.int64]
    osl: npt.NDArray[np.int64]
    concurrency: npt.NDArray[np.int64]
    ttft_s: npt.NDArray[np.float64]
    tpot_s: npt.NDArray[np.float64]
    is_test: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.name)

    def take(self, which: npt.NDArray[Any]) -> Points:
        """The rows that a mask or indices name."""
        return Points(**{one.name: getattr(self, one.name)[which] for one in fields(self)})

    @property
    def e2e_s(self) -> npt.NDArray[np.float64]:
        """Mean time from a request to its last token, of answers of the nominal length."""
        found: npt.NDArray[np.float64] = self.ttft_s + self.tpot_s * (self.osl - 1)
        return found

    def setups(self) -> Iterator[tuple[Setup, npt.NDArray[np.int64]]]:
        """Every setup with the rows that are of it, in order of their first."""
        found: dict[Setup, list[int]] = {}
        for row, values in enumerate(zip(*(getattr(self, name).tolist() for name in Setup._fields), strict=True)):
            found.setdefault(Setup(*values), []).append(row)
        yield from ((setup, np.array(rows)) for setup, rows in found.items())
