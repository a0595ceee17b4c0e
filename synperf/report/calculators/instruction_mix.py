"""What the pipes of an SM take for a mix of instructions, as text, as JSON and drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...calculators.instruction_mix import InstructionMix
from ...units import format_percent, format_quantity, format_time
from ..charts import bars
from ..known import known
from ..text import labelled, paragraphs, section, table

_UNITS = {"tensor": "FLOP", "fma": "FLOP", "xu": "op", "shared": "B", "issue": "instructions"}


def to_dict(found: InstructionMix) -> dict[str, Any]:
    """Every field that has a value."""
    return known(found)


def to_text(found: InstructionMix) -> str:
    """Every pipe, the measured rates where a time is given, why, and what to change."""
    measured = found.took_s is not None
    heads = ("pipe", "asked for", "an SM in a clock", "cycles", "of the limit", *(("used",) if measured else ()))
    limit = f"{' and '.join(found.limiters)} {'is' if measured else 'would be'} the limit on {found.gpu}"
    return paragraphs(
        f"{limit}: {found.cycles:.4g} cycles of an SM",
        table(heads, _rows(found), right=heads[1:]),
        labelled(_measured(found)),
        section("why", found.why),
        section("advice", found.advice),
    )


def _rows(found: InstructionMix) -> Iterator[tuple[str, ...]]:
    for name, pipe in found.pipes.items():
        unit = _UNITS[name]
        used = () if pipe.utilization is None else (format_percent(pipe.utilization),)
        asked, rate = f"{format_quantity(pipe.amount, unit)}", f"{pipe.per_clk_per_sm:g} {unit}"
        yield name, asked, rate, f"{pipe.cycles:.4g}", format_percent(pipe.of_limit), *used


def _measured(found: InstructionMix) -> Iterator[tuple[str, str]]:
    if found.took_s is None:
        return
    yield "time", format_time(found.took_s)
    if found.flop_per_s is not None and found.peak_flop_per_s is not None and found.flop_utilization is not None:
        peak = format_quantity(found.peak_flop_per_s, "FLOP/s", 4)
        rate = format_quantity(found.flop_per_s, "FLOP/s", 4)
        yield "rate", f"{rate}, {format_percent(found.flop_utilization)} of {peak} ({found.dtype})"
    if found.ipc is not None:
        yield "IPC", f"{found.ipc:.3g} of {found.rates['issue']:g} instructions a clock and SM"


def to_svg(found: InstructionMix) -> str:
    """Cycles of every pipe."""
    cycles = {name: [pipe.cycles] for name, pipe in found.pipes.items()}
    return bars.side_by_side(f"Cycles of an SM of {found.gpu}", (), cycles, words=(*found.why, *found.advice))
