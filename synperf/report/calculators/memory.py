"""The memory of a model, as text, as JSON and drawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...serving.memory import Memory
from ...units import format_percent, format_quantity
from ..charts import bars
from ..text import counted, labelled, paragraphs, section


def to_dict(found: Memory) -> dict[str, Any]:
    """Every field, without those that were not asked for, and why."""
    known = {name: value for name, value in asdict(found).items() if value is not None}
    return known | {"why": _why(found), "advice": _advice(found)}


def to_text(found: Memory) -> str:
    """What takes memory of each GPU, and what fits."""
    head = f"{found.model} on {counted(found.gpus, 'GPU')} of {found.gpu}: {_verdict(found)}"
    return paragraphs(
        head,
        taken(found),
        section("why", _why(found)),
        section("advice", _advice(found)),
        section("assumptions", found.assumptions),
    )


def to_svg(found: Memory) -> str:
    """What takes memory of a GPU, over all that it has."""
    kept = found.kv_bytes if found.kv_bytes is not None else max(_left(found), 0.0)
    pieces = [found.weights_bytes, found.activations_bytes, kept, found.overhead_bytes]
    names = (
        "weights",
        "activations",
        "cache" if found.kv_bytes is not None else "room for the cache",
        "not the engine's",
    )
    title = f"Memory of one {found.gpu} of {found.gpus}: {found.model}"
    return bars.stacked(title, names, {"": pieces}, shown=_size, words=_why(found), most=found.capacity_bytes)


def _left(found: Memory) -> float:
    """What weights and activations leave of what the engine may take."""
    return found.usable_bytes - found.weights_bytes - found.activations_bytes


def _why(found: Memory) -> tuple[str, ...]:
    share = format_percent(found.usable_bytes / found.capacity_bytes)
    said = [f"{share} of {_size(found.capacity_bytes)} less {_size(found.weights_bytes)} of weights and "
            f"{_size(found.activations_bytes)} of activations leave {_size(_left(found))} for the cache"]  # fmt: skip
    if found.max_tokens and found.kv_bytes_per_token_per_gpu:
        said.append(f"at {_size(found.kv_bytes_per_token_per_gpu)} a token that is {found.max_tokens:,} tokens")
    return tuple(said)


def _advice(found: Memory) -> tuple[str, ...]:
    short = (found.kv_bytes or 0.0) - _left(found)
    if short > 0:
        return (f"{_size(short)} too much: more GPUs (--tp), narrower weights (--dtype fp8) or cache (--kv-dtype fp8), "
                "shorter or fewer requests",)  # fmt: skip
    return ("more tokens fit with a narrower cache (--kv-dtype fp8), or over more GPUs (--tp)",)


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
