"""An estimate of one call, as text and as the keys of `predict --json`."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from ..collectives import Collective
from ..estimators import Estimate
from ..hardware import GPU
from ..kernels import family
from ..units import format_percent, format_time
from .text import labelled, paragraphs


def to_dict(call: Any, estimate: Estimate) -> dict[str, Any]:
    """The flat keys of the estimate, with the call's fields, given and default, under `params`."""
    values = {f.name: getattr(estimate, f.name) for f in fields(estimate)}
    head = {name: values.pop(name) for name in ("family", "gpu", "engine", "kernel")}
    return {**head, "params": params(call), **values}


def params(call: Any) -> dict[str, Any]:
    """Every field of the call; those that were left to be chosen are None."""
    named = "operation" if isinstance(call, Collective) else ""  # which is its family
    return {f.name: getattr(call, f.name) for f in fields(call) if f.name != named}


def required(call: Any) -> tuple[str, ...]:
    """Names of the fields that every call of its family gives."""
    return tuple(f.name for f in fields(call) if f.default is MISSING)


def to_text(call: Any, gpu: GPU, estimate: Estimate) -> str:
    """The time first, then what it is for and what it rests on."""
    return paragraphs(headline(call, estimate), labelled(origin(call, gpu, estimate)))


def headline(call: Any, e: Estimate) -> str:
    """`171 µs (155 to 330 µs), 81 % of the bf16 roofline; limited by tensor; analytical`."""
    roof = f"{format_percent(e.efficiency, 2)} of the {_roof(call, e)}"
    return f"{format_time(e.time_s)} ({span(e.low_s, e.high_s)}), {roof}; limited by {e.limiter}; {e.origin}"


def _roof(call: Any, e: Estimate) -> str:
    if isinstance(call, Collective):
        return "published rate"
    return "slowest pipe" if family(e.family).is_memory_bound else f"{call.dtype} roofline"


def span(low_s: float, high_s: float) -> str:
    """`155 to 330 µs`: the unit once where both have the same."""
    low, high = format_time(low_s), format_time(high_s)
    return f"{low.split()[0] if low.split()[1] == high.split()[1] else low} to {high}"


def origin(call: Any, gpu: GPU, e: Estimate) -> list[tuple[str, str]]:
    """What the estimate is for and what it rests on, as labelled lines."""
    given = [f"{name}={value}" for name, value in params(call).items() if value is not None]
    outside = ", ".join(map(str, e.outside)) or "the range of its data"
    return [
        ("call", " ".join([e.family, *(text for text in given if not text.startswith(("engine=", "kernel=")))])),
        ("gpu", f"{gpu.name} ({gpu.key})"),
        ("kernel", f"{e.kernel} of {e.engine}"),
        ("floor", f"{format_time(e.floor_s)}, below which no kernel can be"),
        ("beyond", f"extrapolates in {outside}" if e.extrapolating else ""),
        *(("assumes" if i == 0 else "", text) for i, text in enumerate(e.assumptions)),
        ("versions", ", ".join(f"{name} {version}" for name, version in e.versions.items())),
    ]
