"""Metrics by the names of nvprof and of Nsight Compute, both ways.

nvprof collects no metrics from compute capability 7.5 on and does not run from 8.0 on. The table is ncu_metrics.toml.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from ..errors import UnknownNameError
from ..light_classes import dataclass
from ..traces.records.ncu_csv import KernelProfile

_FILE = Path(__file__).parent / "ncu_metrics.toml"
_OF_NCU = "__"  # between the unit of the GPU and the rest of the name


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """One quantity. `nvprof` are spellings of one metric; `ncu` is empty where Nsight Compute has none.

    What `ncu` gives, combined ("any", "sum" or "ratio" of the first to the second), is by `factor` what nvprof told.
    `ratio` are newer spellings, in warps per issue instead of a share.
    """

    nvprof: tuple[str, ...]
    ncu: tuple[str, ...]
    ratio: tuple[str, ...]
    combine: str
    factor: float
    note: str


@cache
def translations() -> tuple[Translation, ...]:
    """All of them, in the order of the table."""
    with _FILE.open("rb") as file:
        rows = tomllib.load(file)["metric"]
    return tuple(
        Translation(
            nvprof=tuple(row["nvprof"]), ncu=tuple(row["ncu"]), ratio=tuple(row.get("ratio", ())),
            combine=row.get("combine", "any"), factor=float(row.get("factor", 1)), note=row.get("note", ""),
        )
        for row in rows
    )  # fmt: skip


def from_nvprof(name: str) -> Translation:
    """What Nsight Compute has for a metric of nvprof.

    Raises:
        UnknownNameError: nvprof has no such metric in the table; the message has the nearest ones.
    """
    known = {spelling: one for one in translations() for spelling in one.nvprof}
    if name.strip().lower() not in known:
        raise UnknownNameError.among("metric of nvprof", name, known)
    return known[name.strip().lower()]


def from_ncu(name: str) -> Translation:
    """What nvprof had for a metric of Nsight Compute; of one that is not there exactly, that of the same stem.

    Raises:
        UnknownNameError: there is none; the message has the nearest ones.
    """
    known = {spelling: one for one in translations() for spelling in (*one.ncu, *one.ratio)}
    wanted = name.strip().lower()
    if wanted in known:
        return known[wanted]
    same = [one for spelling, one in known.items() if spelling.partition(".")[0] == wanted.partition(".")[0]]
    if not same:
        raise UnknownNameError.among("metric of Nsight Compute", name, known)
    return same[0]


def named(name: str) -> Translation:
    """A metric by a name of either.

    Raises:
        UnknownNameError: there is none; the message has the nearest ones.
    """
    return from_ncu(name) if _OF_NCU in name else from_nvprof(name)


def value(profile: KernelProfile, name: str) -> float | None:
    """A metric of nvprof, from a profile in either spelling; None where its parts are not in it. Shares are 0..1."""
    metric = from_nvprof(name)
    told = profile.metric(*metric.nvprof)
    if told is not None:
        return told.value
    found = [
        one.value for spelling in metric.ncu if (one := profile.metric(spelling)) is not None and one.value is not None
    ]
    if not found or (metric.combine != "any" and len(found) < len(metric.ncu)):
        return None
    return metric.factor * _combined(metric.combine, found)


def _combined(how: str, found: list[float]) -> float:
    if how == "sum":
        return sum(found)
    if how == "ratio":
        return found[0] / found[1] if found[1] else 0.0
    return found[0]
