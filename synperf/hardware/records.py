"""Calibration records, `calibration/<key>.toml`: what was measured on one GPU, and who stands in for one without."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..errors import FieldError
from .calibration import Calibration
from .capability import apart
from .fields import show
from .gpu import GPU
from .names import head
from .parse import read_text, toml

FOLDER = Path(__file__).parent / "calibration"
SHARES = ("clock_share", "dram_share", "l2_share")


def measured() -> tuple[str, ...]:
    """Keys of the GPUs that have a record."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml"))) if FOLDER.is_dir() else ()


@cache
def record(key: str) -> Calibration | None:
    """The record of one GPU, or None where nobody measured it.

    Raises:
        FileFormatError, FieldError: the file is broken.
    """
    path = FOLDER / f"{key}.toml"
    return parse_record(read_text(path), path.name) if path.is_file() else None


def parse_record(text: str, where: str) -> Calibration:
    """A record from TOML text: the fields of `Calibration`, launch floors as `cublas.bf16 = 2.1e-6`.

    Raises:
        FileFormatError, FieldError: not TOML, an unknown field, or a value that is no positive number.
    """
    document = toml(text, where)
    floors = _flat(document.pop("launch_floor_s", {}), "launch_floor_s", where)
    texts = _flat(document.pop("provenance", {}), "provenance", where)
    provenance = {key: str(value) for key, value in texts.items()}
    for field in document:
        if field not in SHARES:
            known = f"{', '.join(SHARES)}, launch_floor_s, provenance"
            raise FieldError(f"{where}: unknown field {show(field)}; known: {known}")
    for field, value in (document | {f"launch_floor_s.{key}": value for key, value in floors.items()}).items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 10:
            raise FieldError(f"{where}: {field}: {show(value)} is not a number above 0 and below 10")
    return Calibration(**document, launch_floor_s=MappingProxyType(floors), provenance=MappingProxyType(provenance))


def _flat(table: Any, field: str, where: str) -> dict[str, Any]:
    """Tables in a table as dotted keys: `cublas.bf16 = x` and `"cublas.bf16" = x` are the same."""
    if not isinstance(table, dict):
        raise FieldError(f"{where}: {field}: {show(table)} is not a table; right would be [{field}]")
    flat: dict[str, Any] = {}
    for key, value in table.items():
        flat |= {f"{key}.{inner}": one for inner, one in value.items()} if isinstance(value, dict) else {key: value}
    return flat


@cache
def typical_shares() -> dict[str, float]:
    """Median of every recorded share over the measured GPUs."""
    from statistics import median  # slow to import, and GPUs that are measured need none of it

    records = [found for key in measured() if (found := record(key)) is not None]
    return {name: median(v) for name in SHARES if (v := [x for r in records if (x := getattr(r, name)) is not None])}


def calibrated(gpu: GPU) -> GPU:
    """The GPU with its record, launch floors of the nearest measured GPU where it has none of its own."""
    own = record(gpu.key) or Calibration()
    other = "" if own.launch_floor_s else nearest_measured(gpu)
    found = record(other) if other else None
    if found is not None:
        own = replace(own, launch_floor_s=found.launch_floor_s, launch_floor_from=other)
    return replace(gpu, calibration=own)


def nearest_measured(gpu: GPU) -> str:
    """The measured GPU of the same compute capability, else architecture, else nearest capability; "" for none."""
    tops = {key: head(key) for key in measured() if key != gpu.key}
    ranked = sorted((key for key in tops if tops[key]), key=lambda key: (*_distance(gpu, tops[key]), key))
    return next((key for key in ranked if (found := record(key)) and found.launch_floor_s), "")


def _distance(gpu: GPU, fields: dict[str, Any]) -> tuple[bool, bool, float, float]:
    """Sort key: capability and architecture first, then how far the capability is, then the number of SMs."""
    steps = apart(fields["compute_capability"], gpu.compute_capability)
    return steps != 0, fields["architecture"] != gpu.architecture, steps, abs(fields["num_sms"] - gpu.num_sms)
