"""Kernel families with their fields, engines and kernels, as text and as JSON."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from ..errors import UnsupportedError
from ..hardware import DType
from ..hardware.capability import capabilities
from ..kernels import KernelFamily
from ..kernels.dispatch import engines, resolve
from ..kernels.memory_traits import facts
from ..kernels.own import ENGINE
from .text import labelled, paragraphs

Dispatch = dict[str, dict[str, list[str]]]  # engine -> kernel -> formats


def dispatch(kind: KernelFamily) -> Dispatch:
    """Which kernels each engine runs for which formats, on any GPU."""
    found: Dispatch = {}
    for engine in (ENGINE,) if kind.is_own else engines():
        for dtype in facts(kind.name).dtypes if kind.is_memory_bound else DType:
            for capability in capabilities():
                try:
                    _, kernel = resolve(kind.name, dtype, capability, engine, None)
                except UnsupportedError:
                    continue
                formats = found.setdefault(engine, {}).setdefault(kernel, [])
                if dtype.value not in formats:
                    formats.append(dtype.value)
    return found


def to_dict(kind: KernelFamily) -> dict[str, Any]:
    """Required fields, the others with their defaults (None: chosen, or by engine and format), kernels by engine."""
    call = fields(kind.call_type)
    return {
        "family": kind.name,
        "summary": kind.summary,
        "required": list(kind.required()),
        "defaults": {f.name: f.default for f in call if f.default is not MISSING},
        "engines": dispatch(kind),
    }


def to_text(kind: KernelFamily) -> str:
    """The family's fields and the kernels of each engine."""
    optional = [(f.name, f.default) for f in fields(kind.call_type) if f.default is not MISSING]
    defaults = " ".join(f"{name}={default}" for name, default in optional if default is not None)
    chosen = " ".join(name for name, default in optional if default is None)
    by_engine = [
        (engine, "; ".join(f"{kernel} ({', '.join(formats)})" for kernel, formats in kernels.items()))
        for engine, kernels in dispatch(kind).items()
    ]
    return paragraphs(
        f"{kind.name}: {kind.summary}",
        labelled([("required", " ".join(kind.required())), ("defaults", defaults), ("chosen", chosen), *by_engine]),
    )
