"""What an SM holds of a kernel, as text, as JSON and drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...calculators.occupancy import Residency
from ...calculators.occupancy_sweep import Step
from ...calculators.occupancy_why import ctas
from ...units import format_binary, format_percent
from ..charts import bars, lines
from ..known import known
from ..text import labelled, number, paragraphs, section, table

_AXES = {"threads": "threads a CTA", "registers": "registers a thread", "shared_bytes": "shared memory a CTA"}
_SIZES = ("shared",)  # resources that are counted in bytes


def to_dict(found: Residency) -> dict[str, Any]:
    """Every field that has a value."""
    return known(found)


def to_text(found: Residency) -> str:
    """What is resident, what each resource allows, why, and what to change."""
    heads = ("resource", "one CTA", "an SM", "CTAs", "")
    return paragraphs(
        _verdict(found),
        table(heads, _resources(found), right=heads[1:4]),
        labelled(_more(found)),
        _sweep(found),
        section("why", found.why),
        section("advice", found.advice),
    )


def _verdict(found: Residency) -> str:
    mode = ", as a textbook has it" if found.textbook else ""
    limited = f"limited by {' and '.join(found.limiters)}"
    if not found.launches:
        return f"cannot launch on {found.sm}{mode}: {_short(found)}"
    return (
        f"{ctas(found.ctas_per_sm)} of {found.threads} threads on an SM of {found.sm}{mode}: "
        f"{found.warps_per_sm} of {found.max_warps_per_sm} warps, "
        f"{format_percent(found.occupancy, 4)}; {limited}"
    )


def _short(found: Residency) -> str:
    return " and ".join(
        f"{name}, {_amount(name, found.taken[name])} of {_amount(name, found.available[name])}"
        for name in found.limiters
    )


def _amount(name: str, value: int) -> str:
    return format_binary(value) if name in _SIZES else f"{value:,}"


def _resources(found: Residency) -> Iterator[tuple[str, ...]]:
    for name, limit in found.limits.items():
        has, takes = _amount(name, found.available[name]), _amount(name, found.taken[name])
        yield name, takes, has, f"{limit:,}", "the limit" if name in found.limiters else ""


def _more(found: Residency) -> Iterator[tuple[str, str]]:
    most = found.largest
    named = {"threads": "threads", "registers": "registers a thread", "shared_bytes": "of shared memory"}
    shown = [f"{_value(field, most[field])} {words}" for field, words in named.items() if field in most]
    yield "launches", f"up to {', '.join(shown)}, each beside the others as they are" if shown else ""
    if found.clusters is not None:
        yield "clusters", _clusters(found)


def _value(field: str, value: int) -> str:
    return format_binary(value) if field == "shared_bytes" else f"{value:,}"


def _clusters(found: Residency) -> str:
    assert found.clusters is not None
    size = f"of {found.clusters.size} CTAs"
    portable = "" if found.clusters.portable else "; this size is not portable, and has to be asked for"
    if found.clusters.most_active is None:
        return size + portable
    return f"{size}: at most {found.clusters.most_active:,} at once, fewer where GPCs have SMs left over{portable}"


def _sweep(found: Residency) -> str:
    if found.sweep is None:
        return ""
    heads = (_AXES[found.sweep], "CTAs", "warps", "occupancy", "limited by")
    return table(heads, (_step(found.sweep, step) for step in found.steps), right=heads[:4])


def _step(field: str, step: Step) -> tuple[str, ...]:
    low, high = _value(field, step.low), _value(field, step.high)
    span = low if step.low == step.high else f"{low} to {high}" if field != "shared_bytes" else f"up to {high}"
    share = format_percent(step.occupancy)
    return span, str(step.ctas_per_sm), str(step.warps_per_sm), share, " and ".join(step.limiters)


def to_svg(found: Residency) -> str:
    """Occupancy over what was swept; else the CTAs that each resource allows."""
    words = (*found.why, *found.advice)
    if found.sweep is None:
        limits = {name: [float(limit)] for name, limit in found.limits.items()}
        return bars.side_by_side("CTAs that each resource of an SM allows", (), limits, words=words)
    return lines.draw(_chart(found, found.sweep, words))


def _chart(found: Residency, field: str, said: tuple[str, ...]) -> lines.Chart:
    ends = [(end, step.occupancy) for step in found.steps for end in (step.low, step.high)]
    at = getattr(found, field)
    here = lines.Mark(f"{_value(field, at)}: {found.ctas_per_sm} CTAs", at, found.occupancy)
    others = ", ".join(
        f"{_value(name, getattr(found, name))} {words}" for name, words in _AXES.items() if name != field
    )
    shown = format_binary if field == "shared_bytes" else number
    return lines.Chart(
        title=f"Occupancy over {_AXES[field]}",
        x=lines.Axis(_AXES[field], shown=shown),
        y=lines.Axis("occupancy", shown=format_percent),
        curves=[lines.Curve(others, [x for x, _ in ends], [y for _, y in ends], step=True)],
        marks=[here],
        words=said,
    )
