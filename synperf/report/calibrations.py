"""What a calibration changed: errors before and after per kernel, rates, and why things stayed as they are."""

from __future__ import annotations

from typing import Any

from ..estimators.calibration_file import CalibrationFile
from ..hardware import GPU
from ..units import format_percent
from .text import labelled, paragraphs, section, table

_HEADS = ("engine", "kernel", "dtype", "rows", "before", "after", "method")


def to_dict(found: CalibrationFile, gpu: GPU) -> dict[str, Any]:
    """Errors and methods by kernel; rates before and after. The coefficients are in the file."""
    kernels = [
        dict(zip(("engine", "kernel", "dtype"), key.split("."), strict=True))
        | {"method": one.method, "why": one.why, "rows": one.rows, "mape_before": one.before, "mape_after": one.after}
        for key, one in found.kernels.items()
    ]
    hardware, record = found.hardware, gpu.calibration
    return {
        "family": found.family, "gpu": found.gpu, "weights": found.weights, "date": found.date, "seed": found.seed,
        "rows": found.rows, "sources": found.sources, "kernels": kernels,
        "hardware": {
            "clock_share": {"before": record.clock_share, "after": hardware.clock_share},
            "dram_share": {"before": record.dram_share, "after": hardware.dram_share},
            "launch_floor_s": {
                key: {"before": record.launch_floor_s.get(key), "after": value}
                for key, value in hardware.launch_floor_s.items()
            },
            "said": hardware.said,
        },
    }  # fmt: skip


def to_text(found: CalibrationFile, gpu: GPU) -> str:
    """Rates, then the errors of every kernel, then why."""
    head = f"calibration of {gpu.key} for {found.family} from {found.rows} rows of {', '.join(found.sources)}"
    rows = [
        (*key.split("."), f"{one.rows:,}", format_percent(one.before), format_percent(one.after), one.method)
        for key, one in found.kernels.items()
    ]
    why = [f"{key}: {one.why}" for key, one in found.kernels.items()]
    return paragraphs(
        head, _rates(found, gpu), table(_HEADS, rows, ("rows", "before", "after")), section("why", why), _LEGEND
    )


def _rates(found: CalibrationFile, gpu: GPU) -> str:
    hardware, record = found.hardware, gpu.calibration
    lines = [(name, _change(getattr(record, name), getattr(hardware, name))) for name in ("clock_share", "dram_share")]
    lines += [
        (f"launch floor of {key}", _change(_us(record.launch_floor_s.get(key)), _us(value), " us"))
        for key, value in hardware.launch_floor_s.items()
        if record.launch_floor_s.get(key) != value
    ]
    said = [f"{name}: {text}" for name, text in hardware.said.items()]
    return paragraphs(labelled(lines), section("from the rows", said))


def _us(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e6


def _change(before: float | None, after: float | None, unit: str = "") -> str:
    old, new = ("typical" if one is None else f"{one:.3g}{unit}" for one in (before, after))
    return f"{new}, as before" if old == new else f"{old} -> {new}"


_LEGEND = (
    "Mean absolute relative errors: before by the estimate without your rows, after on rows that were left out of the "
    "fit, whole weight shapes at a time."
)
