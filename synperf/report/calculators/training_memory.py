"""The memory of training, as text, as JSON and drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...calculators.training_memory import TrainingMemory
from ...calculators.training_states import NONE
from ...units import format_binary, format_quantity
from ..charts import bars
from ..known import known
from ..text import labelled, paragraphs, section, table


def to_dict(found: TrainingMemory) -> dict[str, Any]:
    """Every field that there is."""
    return known(found)


def to_text(found: TrainingMemory) -> str:
    """What takes memory of a GPU, and what other stages and places would."""
    fits = {None: "", True: ": fits", False: ": does not fit"}[found.fits]
    of = "" if found.capacity_bytes is None else f" of {_size(found.capacity_bytes)}"
    rows = [(name, *_both(value)) for name, value in found.parts.items()]
    heads = ("of a GPU", "GB", "GiB")
    return paragraphs(
        f"{_size(found.bytes_per_gpu)} ({format_binary(found.bytes_per_gpu)}) a GPU{of}{fits}",
        table(heads, [*rows, ("all", *_both(found.bytes_per_gpu))], right=heads[1:]),
        labelled([("by ZeRO stage", _listed(found.by_zero)), ("by offload", _offloads(found))]),
        section("why", found.why),
        section("advice", found.advice),
        section("not counted", found.not_counted),
    )


def _offloads(found: TrainingMemory) -> str:
    return _listed(found.by_offload) if len(found.by_offload) > 1 else ""


def _listed(values: dict[str, float]) -> str:
    return ", ".join(f"{name}: {value / 2**30:,.2f} GiB" for name, value in values.items())


def _both(value: float) -> tuple[str, str]:
    return f"{value / 1e9:,.2f}", f"{value / 2**30:,.2f}"


def to_svg(found: TrainingMemory) -> str:
    """A bar for each stage of ZeRO."""
    stages = {f"ZeRO-{stage}": replace(found.setup, zero=int(stage), offload=NONE).parts for stage in found.by_zero}
    names = tuple(dict.fromkeys(name for parts in stages.values() for name in parts))
    return bars.stacked(
        "Memory of one GPU by stage of ZeRO",
        names,
        {label: [parts.get(name, 0.0) for name in names] for label, parts in stages.items()},
        _size,
        words=(*found.why, f"not counted: {'; '.join(found.not_counted)}"),
        most=found.capacity_bytes,
    )


def _size(value: float) -> str:
    return format_quantity(value, "B", 4)
