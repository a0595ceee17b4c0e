"""The memory of a model, as text and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..serving.memory import Memory
from ..units import format_quantity
from .text import counted, labelled, paragraphs, section


def to_dict(found: Memory) -> dict[str, Any]:
    """Every field; without those that were not asked for."""
    return {name: value for name, value in asdict(found).items() if value is not None}


def to_text(found: Memory) -> str:
    """What takes memory of each GPU, and what fits."""
    head = f"{found.model} on {counted(found.gpus, 'GPU')} of {found.gpu}: {_verdict(found)}"
    return paragraphs(head, taken(found), section("assumptions", found.assumptions))


def taken(found: Memory) -> str:
    """What takes memory of each GPU, a line each."""
    return labelled([
        ("parameters", f"{found.parameters:,}"),
        ("weights", f"{_size(found.weights_bytes)} on each GPU"),
        ("activations", _size(found.activations_bytes)),
        ("cache", _cache(found)),
        ("usable", f"{_size(found.usable_bytes)} of {_size(found.capacity_bytes)}"),
        ("fits", _fits(found)),
    ])  # fmt: skip


def _verdict(found: Memory) -> str:
    return "fits" if found.fits else "does not fit"


def _cache(found: Memory) -> str:
    if not found.kv_bytes_per_token and not found.kv_bytes:
        return ""
    per_token = f"{_size(found.kv_bytes_per_token_per_gpu)} a token, of {_size(found.kv_bytes_per_token)} in all"
    if found.kv_bytes is None:
        return per_token
    asked = f"{counted(found.batch or 1, 'request')} of {counted(found.seq or 0, 'token')}"
    return f"{per_token}; {_size(found.kv_bytes)} for {asked}"


def _fits(found: Memory) -> str:
    tokens = "" if found.max_tokens is None else counted(found.max_tokens, "token")
    if found.max_requests is None:
        return tokens
    return f"{counted(found.max_requests, 'request')} of that length" + (f"; {tokens}" if tokens else "")


def _size(value: float) -> str:
    return format_quantity(value, "B", 4)
