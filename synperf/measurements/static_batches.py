"""Measured static batches of PipeWeave's artifact: one row per repeat of a run, times in milliseconds.

Of each configuration the median of the repeats after the first counts, which has the warm-up in it, and the first alone
where there is no other. Rows of vLLM have the time of the whole batch alone. `kernels` are those of attention that the
source names beside its predictions.
Source: github.com/zksainx/pipeweave (Apache-2.0), the artifact of arXiv 2601.14910.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from ..errors import FieldError, FileFormatError
from .parquet_rows import rows

COLUMNS = frozenset({
    "config_id", "framework", "model", "workload", "gpu", "tp", "pp", "prompt_lens", "output_len", "repeat",
    "prefill_ms", "median_decode_ms", "total_ms", "prefill_attention", "decode_attention",
})  # fmt: skip
METHODS = ("pipeweave", "neusight")  # whose predictions are no zeros and within what GPUs can do
_KERNELS = {"fa2_ragged": "flashinfer", "fa2_paged": "flashinfer", "fa3_ragged": "fa3"}
_MS = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Seconds of a batch: its prefill, its decode step and all; the first two are None where only all was timed."""

    prefill_s: float | None
    step_s: float | None
    total_s: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StaticRun:
    """One measured configuration, and what its source predicts of it: `isl` of each request, `osl` of all."""

    name: str
    workload: str
    model: str
    gpu: str
    engine: str
    tp: int
    pp: int
    isl: tuple[int, ...]
    osl: int
    measured: Times
    kernels: Mapping[str, str] = field(default_factory=dict)
    published: Mapping[str, Times] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        """Decode steps."""
        return self.osl - 1


def read(path: Path) -> list[StaticRun]:
    """The configurations of a file, in its order.

    Raises:
        FileFormatError: it is not such a file, or a row is not what it should be.
        MissingExtraError: the extra [data] is not installed.
    """
    found = rows(path)
    if missing := sorted(COLUMNS - set(found[0] if found else ())):
        raise FileFormatError(f"rows: {path.name} lacks {', '.join(missing)}; right would be a file of static batches")
    runs: dict[str, list[dict[str, Any]]] = {}
    for row in found:
        runs.setdefault(row["config_id"], []).append(row)
    return [_run(path.name, of_run) for of_run in runs.values()]


def _run(file: str, rows: list[dict[str, Any]]) -> StaticRun:
    first = rows[0]
    try:
        return StaticRun(
            name=first["config_id"],
            workload=first["workload"],
            model=first["model"],
            gpu=first["gpu"],
            engine=first["framework"],
            tp=first["tp"],
            pp=first["pp"],
            isl=tuple(first["prompt_lens"]),
            osl=first["output_len"],
            measured=_measured([row for row in rows if row["repeat"] > 0] or rows),
            kernels={f"{phase}_attention": _KERNELS[first[f"{phase}_attention"]] for phase in ("prefill", "decode")},
            published={name: found for name in METHODS if (found := _published(first, name)) is not None},
        )
    except (FieldError, KeyError, TypeError) as wrong:
        raise FileFormatError(f"{file}: {first['config_id']}: {wrong}") from wrong


def _measured(rows: Iterable[Mapping[str, Any]]) -> Times:
    def middle(name: str) -> float | None:
        values = [row[name] for row in rows if row[name] is not None]
        return median(values) * _MS if values else None

    total_s = middle("total_ms")
    if total_s is None:
        raise FieldError("total_ms: no repeat has a time")
    return Times(prefill_s=middle("prefill_ms"), step_s=middle("median_decode_ms"), total_s=total_s)


def _published(row: Mapping[str, Any], method: str) -> Times | None:
    prefill, step, total = (row.get(f"{method}_{name}_ms") for name in ("prefill", "decode_avg", "total"))
    if prefill is None or step is None or total is None:
        return None
    return Times(prefill_s=prefill * _MS, step_s=step * _MS, total_s=total * _MS)
