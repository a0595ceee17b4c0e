"""Whether warpgroups find the registers that they ask for, as text, as JSON and drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...calculators.warpgroups import THREADS, Warpgroups, shown
from ..charts import bars
from ..known import known
from ..text import paragraphs, section, table


def to_dict(found: Warpgroups) -> dict[str, Any]:
    """Every field."""
    return known(found)


def to_text(found: Warpgroups) -> str:
    """Each layout with its verdict, why, and the most that it could ask for."""
    heads = ("warpgroups", "threads", "registers", "available", "at launch", "largest", "verdict")
    return paragraphs(
        table(heads, _rows(found), right=heads[1:6]), section("why", found.why), section("advice", found.advice)
    )


def _rows(found: Warpgroups) -> Iterator[tuple[str, ...]]:
    for one in found.layouts:
        largest = "" if one.largest is None else str(one.largest)
        at_launch = str(one.launch_registers) if one.fits else f"{one.launch_registers} > {one.most_launch_registers}"
        verdict = "fits" if one.fits else "deadlock"
        yield (
            shown(one.registers), str(one.threads), f"{one.total:,}", f"{one.available:,}", at_launch, largest, verdict
        )  # fmt: skip


def to_svg(found: Warpgroups) -> str:
    """Registers of every warpgroup over what there are."""
    groups = {shown(one.registers): [float(THREADS * each) for each in one.registers] for one in found.layouts}
    most = max(len(one.registers) for one in found.layouts)
    kinds = [f"warpgroup {place}" for place in range(most)]
    title = f"Registers of a CTA; grey: {found.register_file:,}, all of an SM"
    words = (*found.why, *found.advice)
    return bars.stacked(title, kinds, groups, lambda value: f"{value:,.0f}", words, found.register_file)
