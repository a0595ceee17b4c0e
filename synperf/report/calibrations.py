"""What a calibration changed: errors before and after per kernel, rates, and why things stayed as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import to_builtins

from ..estimators.calibration_file import CalibrationFile, SetAside
from ..hardware import GPU
from ..hardware.records import typical_shares
from ..units import counted, format_percent, format_time
from .text import paragraphs, section, table

_HEADS = ("engine", "kernel", "format", "rows", "before", "after", "method")
_RATE_HEADS = ("rate", "before", "after", "from")
_SHARES = ("clock_share", "dram_share")
_SHOWN = 5  # rows that are set aside, by name


def to_dict(found: CalibrationFile, gpu: GPU) -> dict[str, Any]:
    """Errors and methods by kernel; rates before and after; rows set aside. The coefficients are in the file."""
    kernels = [
        _names(key) | {"method": one.method, "why": one.why, "rows": one.rows}
        | {"mape_before": one.before, "mape_after": one.after}
        for key, one in found.kernels.items()
    ]  # fmt: skip
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
        "set_aside": to_builtins(found.set_aside),
    }  # fmt: skip


def _names(key: str) -> dict[str, str]:
    """Engine, kernel, format and, where there is one, variant."""
    return dict(zip(("engine", "kernel", "dtype", "variant"), key.split("."), strict=False))


def to_text(found: CalibrationFile, gpu: GPU) -> str:
    """Rates, then the errors of every kernel, then why, then what was set aside."""
    sources = ", ".join(found.sources)
    head = f"calibration of {gpu.name} ({gpu.key}) for {found.family} from {counted(found.rows, 'row')} of {sources}"
    rows = [
        (*key.split(".", 2), f"{one.rows:,}", format_percent(one.before), format_percent(one.after), one.method)
        for key, one in found.kernels.items()
    ]
    why = [f"{key}: {one.why}" for key, one in found.kernels.items()]
    return paragraphs(
        head,
        _rates(found, gpu),
        table(_HEADS, rows, ("rows", "before", "after")),
        section("why", why),
        section(f"set aside: {counted(len(found.set_aside), 'row')}", _set_aside(found.set_aside)),
        _LEGEND,
    )


def _rates(found: CalibrationFile, gpu: GPU) -> str:
    """Sustained rates and launch floors, before and after, and what tells them."""
    hardware, record = found.hardware, gpu.calibration
    told = {name: text for name, text in hardware.said.items() if name != "how"}
    lines = [
        (name, _share(name, getattr(record, name)), _share(name, getattr(hardware, name)), told.pop(name))
        for name in _SHARES
        if name in told
    ]
    lines += [
        (f"floor of {key}", _floor(record.launch_floor_s.get(key)), _floor(hardware.launch_floor_s.get(key)), text)
        for key, text in told.items()
    ]
    return paragraphs(f"rates of the GPU: {hardware.said['how']}", table(_RATE_HEADS, lines, ("before", "after")))


def _share(name: str, value: float | None) -> str:
    return f"{typical_shares()[name]:.3g} (typical)" if value is None else f"{value:.3g}"


def _floor(seconds: float | None) -> str:
    return "none" if seconds is None else format_time(seconds)


def _set_aside(rows: tuple[SetAside, ...]) -> Iterator[str]:
    for one in rows[:_SHOWN]:
        yield f"{one.call} in {format_time(one.time_s)}: {one.why}"
    if len(rows) > _SHOWN:
        yield f"and {len(rows) - _SHOWN:,} more, which --json and the file list"


_LEGEND = (
    "Errors are means of |estimate / measured - 1|: before by the estimate without your rows, after on rows that were "
    "left out of the fit, whole shapes at a time. Engines of one kernel and format have one method, chosen by the "
    "errors of all of them together. A rate that is `tuned` was moved to where the estimates of all rows err least. "
    "`zero-shot` kept an estimate as it was, `hardware` changed rates alone, `launch floor` that alone."
)
