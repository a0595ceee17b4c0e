"""Measured or fitted constants of one GPU, beside its specification: how, on what and when.

Only the launch floor enters the analytical estimate; the sustained values serve models that predict a GPU
they were not trained on, and readers of `synperf gpu`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from types import MappingProxyType
from typing import Any

from ..light_classes import dataclass


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Calibration:
    """Sustained rates as shares of the published ones, so that a what-if scales them, and launch floors in seconds.

    `launch_floor_s` is keyed `"{kernel}.{dtype}"` (the canonical kernel names): the time of a launch with next to
    no work in it. `launch_floor_from` is empty when this GPU was measured, else the key of the GPU whose record
    stands in, but for the floors of `launch_floor_fitted`, which are its own.
    """

    clock_share: float | None = None  # sustained tensor clock / published clock
    dram_share: float | None = None
    l2_share: float | None = None
    launch_floor_s: Mapping[str, float] = field(default_factory=dict)
    launch_floor_from: str = ""
    launch_floor_fitted: tuple[str, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        return revived, (Calibration, plain_fields(self))


def plain_fields(one: Any) -> dict[str, Any]:
    """Fields of a frozen record with read-only mappings as dicts, which can be sent to another process."""
    values = {f.name: getattr(one, f.name) for f in fields(one)}
    return {name: dict(v) if isinstance(v, MappingProxyType) else v for name, v in values.items()}


def revived(kind: type[Any], values: dict[str, Any]) -> Any:
    """The record of `plain_fields`, its mappings read-only again."""
    return kind(**{name: MappingProxyType(v) if isinstance(v, dict) else v for name, v in values.items()})
