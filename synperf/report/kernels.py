"""Kernel families with their fields, engines and kernels, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, fields
from typing import Any

from ..kernels import KernelFamily
from .text import labelled, paragraphs


def to_dict(kind: KernelFamily, dispatch: Iterable[tuple[str, tuple[str, ...]]]) -> dict[str, Any]:
    """Fields in their order with defaults (None: chosen, or by engine and format), kernels by engine."""
    call = fields(kind.call_type)
    return {
        "family": kind.name,
        "summary": kind.summary,
        "required": list(kind.required()),
        "defaults": {f.name: f.default for f in call if f.default is not MISSING},
        "engines": {engine: list(kernels) for engine, kernels in dispatch},
    }


def to_text(kind: KernelFamily, dispatch: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    """The family's fields and which kernels each engine runs."""
    optional = [(f.name, f.default) for f in fields(kind.call_type) if f.default is not MISSING]
    defaults = " ".join(f"{name}={default}" for name, default in optional if default is not None)
    chosen = " ".join(name for name, default in optional if default is None)
    given = [("required", " ".join(kind.required())), ("defaults", defaults), ("chosen if not given", chosen)]
    return paragraphs(
        f"{kind.name}: {kind.summary}",
        labelled([*given, *((f"kernels of {engine}", " ".join(kernels)) for engine, kernels in dispatch)]),
    )
