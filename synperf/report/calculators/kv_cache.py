"""The cache of keys and values as text, as JSON and drawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...calculators.kv_cache import KvCache, Room
from ...units import format_binary
from ..charts import bars
from ..text import labelled, paragraphs, section, table

_HEADS = ("budget", "blocks", "tokens", "a request", "concurrency", "")


def to_dict(found: KvCache) -> dict[str, Any]:
    """Every field that was asked for."""
    return {name: value for name, value in asdict(found).items() if value is not None}


def to_text(found: KvCache) -> str:
    """A token, a block, a request; a row for each budget."""
    request = "" if found.bytes_per_request is None else (
        f"{found.tokens:,} tokens: {format_binary(found.bytes_per_request)}"
    )  # fmt: skip
    lines = [
        ("KV", f"{format_binary(found.bytes_per_token)} a token, {_own(found)}"),
        ("block", f"{found.block_tokens} tokens, {format_binary(found.block_bytes)}"),
        ("request", request),
    ]
    rooms = table(_HEADS, map(_row, found.rooms), _HEADS[:-1]) if found.rooms else ""
    return paragraphs(labelled(lines), rooms, section("why", found.why), section("advice", found.advice))


def to_svg(found: KvCache) -> str:
    """Bytes of a token: of the model, of a rank, and as a formula with all query heads would have it."""
    groups = {"the model": [found.bytes_per_token], "one rank": [found.bytes_per_token_per_gpu]}
    if found.query_heads_factor > 1:
        groups["with query heads"] = [found.bytes_per_token * found.query_heads_factor]
    return bars.side_by_side("Bytes that a token keeps", (), groups, shown=format_binary, words=found.why)


def _own(found: KvCache) -> str:
    return f"{format_binary(found.bytes_per_token_per_gpu)} on each GPU"


def _row(room: Room) -> tuple[str, ...]:
    asked = "" if room.max_tokens is None else f"{room.max_tokens:,}"
    concurrency = "" if room.concurrency is None else f"{room.concurrency:.2f}"
    verdict = "fits" if room.fits else "does not fit"
    return (format_binary(room.kv_bytes), f"{room.blocks:,}", f"{room.tokens:,}", asked, concurrency, verdict)
