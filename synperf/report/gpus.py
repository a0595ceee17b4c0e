"""GPUs, as text and as JSON: a table of many, every field of one with its source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

from ..hardware import GPU, Calibration, DType
from ..hardware.makers import NVIDIA, Maker, maker
from ..units import format_binary, format_percent, format_plain, format_quantity, format_time, unit_of
from .text import labelled, paragraphs, section, table

_HEADS = ("key", "name", "architecture", "CC", "SMs", "bf16", "fp8", "DRAM", "bandwidth", "L2", "power")
_RIGHT = ("CC", "SMs", "bf16", "fp8", "DRAM", "bandwidth", "L2", "power")
_CACHES = ("l2_bytes", "shared_bytes_per_sm", "shared_bytes_per_cta", "reserved_shared_bytes_per_cta")
_TOP = ("key", "name", "architecture", "compute_capability")
_WORDS = ("sources", "notes", "aliases", "assumptions", "calibration")


def list_text(gpus: Iterable[GPU]) -> str:
    """One line per GPU. Peaks are dense."""
    return table(_HEADS, [_cells(gpu) for gpu in gpus], _RIGHT)


def _cells(gpu: GPU) -> tuple[str, ...]:
    bf16, fp8 = (_peak(gpu, dtype) for dtype in (DType.BF16, DType.FP8))
    dram, rate = format_quantity(gpu.dram_bytes, "B"), format_quantity(gpu.dram_bytes_per_s, "B/s")
    memory = (dram, rate, format_binary(gpu.l2_bytes), format_quantity(gpu.power_w, "W"))
    return (gpu.key, gpu.name, gpu.architecture, gpu.compute_capability, str(gpu.num_sms), bf16, fp8, *memory)


def _peak(gpu: GPU, dtype: DType) -> str:
    return format_quantity(gpu.peak_flop_per_s(dtype), "FLOP/s") if dtype in gpu.dtypes() else "-"


def to_dict(gpu: GPU) -> dict[str, Any]:
    """Every field, and per format the pipe, the dense peak and the ridge."""
    own = {f.name: getattr(gpu, f.name) for f in fields(gpu)}
    per_format = {
        dtype: {
            "pipe": gpu.math_pipe(dtype),
            "peak_flop_per_s": gpu.peak_flop_per_s(dtype),
            "ridge_flop_per_byte": gpu.ridge_flop_per_byte(dtype),
        }
        for dtype in gpu.dtypes()
    }
    return {**own, "formats": per_format}


def to_text(gpu: GPU) -> str:
    """Every field with its unit, source and note; peaks and ridges per format; what was measured."""
    words = maker(gpu.maker)
    head = f"{gpu.name} ({gpu.key}), {gpu.architecture}, {words.target} {gpu.compute_capability}"
    return paragraphs(
        head,
        _words(words) if gpu.maker != NVIDIA else "",
        section("assumptions", gpu.assumptions),
        table(("field", "value", "source"), _fields(gpu)),
        table(("format", "pipe", "dense peak", "ridge"), _formats(gpu), ("dense peak", "ridge")),
        section("notes", (f"{field}: {note}" for field, note in gpu.notes.items())),
        calibration_text(gpu.calibration),
        labelled([("aliases", ", ".join(gpu.aliases))]),
    )


def _words(words: Maker) -> str:
    """What the names of the fields mean on a GPU that is not NVIDIA's."""
    return f"in the names of fields: sm is {words.sm}, warp {words.warp}, cta {words.cta}"


def _fields(gpu: GPU) -> Iterator[tuple[str, str, str]]:
    for f in fields(gpu):
        value = getattr(gpu, f.name)
        if f.name.endswith("_flop_per_clk_per_sm"):
            for dtype, rate in value.items():
                yield f"{f.name}.{dtype}", format_plain(rate), gpu.sources.get(f.name, "")
        elif f.name not in (*_TOP, *_WORDS):
            yield f.name, _quantity(f.name, value), gpu.sources.get(f.name, "")


def _quantity(name: str, value: float) -> str:
    if name in _CACHES:
        return format_binary(value)
    unit = unit_of(name)
    return format_quantity(value, unit, 4) if unit else format_plain(value)


def _formats(gpu: GPU) -> Iterator[tuple[str, str, str, str]]:
    for dtype in gpu.dtypes():
        ridge = f"{gpu.ridge_flop_per_byte(dtype):.0f} FLOP/B"
        yield str(dtype), gpu.math_pipe(dtype), _peak(gpu, dtype), ridge


def calibration_text(record: Calibration) -> str:
    """Sustained shares and launch floors, and where they come from."""
    shares = [("clock", record.clock_share), ("DRAM", record.dram_share), ("L2", record.l2_share)]
    lines = [f"sustained {name}: {format_percent(share)} of the published" for name, share in shares if share]
    stand_in = f", of {record.launch_floor_from}" if record.launch_floor_from else ""
    lines += [f"launch floor {key}: {format_time(value)}{stand_in}" for key, value in record.launch_floor_s.items()]
    lines += [f"{key}: {text}" for key, text in record.provenance.items()]
    return section("measured", lines)
