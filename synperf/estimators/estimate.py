"""The answer to `how long?`, for one call or for columns of calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..numeric import Number, concatenated


@dataclass(slots=True, kw_only=True)
class Estimate:
    """Time of one call (floats) or of many (float64 columns of one length), with where the number comes from.

    `low_s` and `high_s` bound the central 80 %. `floor_s` is the physical bound and no time is below it.
    `efficiency` is the nominal roofline time over `time_s`; it may exceed 1 when data stay in L2.
    `outside` names the features in which a learned estimator extrapolates: one tuple, or one per row.
    """

    family: str
    gpu: str
    engine: str
    kernel: str
    time_s: Number
    low_s: Number
    high_s: Number
    floor_s: Number
    efficiency: Number
    limiter: str | np.ndarray  # launch, tensor, fma, xu, dram, l2, shared
    origin: str | np.ndarray  # measured, learned, calibrated, analytical; per row where they differ
    extrapolating: bool | np.ndarray = False
    outside: tuple[str, ...] | list[tuple[str, ...]] = ()
    assumptions: tuple[str, ...] = ()
    versions: Mapping[str, str]

    @classmethod
    def join(cls, parts: Sequence[Estimate]) -> Estimate:
        """Column estimates of one engine and kernel, one after the other; what any part rests on, all rest on."""
        columns: dict[str, Any] = concatenated(parts)
        if any(isinstance(part.outside, list) for part in parts):
            columns["outside"] = [names for part in parts for names in part._rows_outside()]
            columns["extrapolating"] = np.array([bool(names) for names in columns["outside"]])
        if "origin" in columns or len({part.origin for part in parts}) > 1:
            origins = [np.broadcast_to(np.asarray(part.origin, dtype=object), len(part)) for part in parts]
            columns["origin"] = np.concatenate(origins)
        columns["assumptions"] = tuple(dict.fromkeys(said for part in parts for said in part.assumptions))
        columns["versions"] = {name: version for part in parts for name, version in part.versions.items()}
        return replace(parts[0], **columns)

    @classmethod
    def gather(cls, parts: Sequence[tuple[np.ndarray, Estimate]]) -> Estimate:
        """Column estimates of some rows each, as one in the order of the rows."""
        joined = cls.join([part for _, part in parts])
        order = np.argsort(np.concatenate([rows for rows, _ in parts]))
        columns: dict[str, Any] = {
            f.name: value[order] for f in fields(joined) if isinstance(value := getattr(joined, f.name), np.ndarray)
        }
        if isinstance(joined.outside, list):
            columns["outside"] = [joined.outside[i] for i in order.tolist()]
        return replace(joined, **columns)

    def _rows_outside(self) -> list[tuple[str, ...]]:
        return self.outside if isinstance(self.outside, list) else [self.outside] * len(self)

    def __len__(self) -> int:
        """Number of rows of a column estimate."""
        return len(self.time_s)
