"""Tensor parallelism, as text, as JSON and drawn by the number of ranks."""

from __future__ import annotations

from typing import Any

from ...calculators.tensor_parallel import TensorParallel
from ...units import format_percent, format_quantity, format_time
from ..charts import bars
from ..known import known
from ..text import labelled, paragraphs, section, table


def to_dict(found: TensorParallel) -> dict[str, Any]:
    """Every field."""
    return known(found)


def to_text(found: TensorParallel) -> str:
    """Communication beside computation, and other numbers of ranks."""
    head = (
        f"tp {found.tp}: communication is {format_percent(found.comm_over_compute)} of the computation, "
        f"{format_percent(found.training_comm_over_compute)} in training"
    )
    lines = [
        ("all-reduce", f"{found.bytes_per_allreduce:,.0f} B, {format_time(found.allreduce_s)}"),
        ("forward", f"{found.allreduces_forward} of them, {format_time(found.comm_s)}"),
        ("computation", f"{format_time(found.compute_s)} at the peak rate"),
        ("weights", f"{format_quantity(found.weights_bytes_per_gpu, 'B')} a GPU"),
    ]
    heads = ("tp", "computation", "communication", "together", "weights")
    rows = [
        (
            str(one.tp),
            *map(format_time, (one.compute_s, one.comm_s, one.total_s)),
            format_quantity(one.weights_bytes, "B"),
        )
        for one in found.by_tp
    ]
    return paragraphs(
        head,
        labelled(lines),
        table(heads, rows, right=heads),
        section("why", found.why),
        section("advice", found.advice),
        section("assumptions", found.assumptions),
    )


def to_svg(found: TensorParallel) -> str:
    """A forward pass by the number of ranks."""
    rows = {f"tp {one.tp}": [one.compute_s, one.comm_s] for one in found.by_tp}
    return bars.stacked("A forward pass", ("computation", "communication"), rows, format_time, words=found.why)
