"""What padding costs, as text, as JSON and drawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...calculators.padding import Padded, Padding
from ...units import format_percent
from ..charts import bars
from ..text import number, paragraphs, section, table

_HEADS = ("strategy", "tokens", "waste", "overhead", "attention overhead")


def to_dict(found: Padding) -> dict[str, Any]:
    """Every field that the strategy has."""
    return {name: value for name, value in asdict(found).items() if value is not None}


def to_text(found: Padding) -> str:
    """The strategy that was asked for, the others below it, fewest tokens last."""
    own = Padded(
        name=found.strategy,
        padded_tokens=found.padded_tokens,
        waste=found.waste,
        overhead=found.overhead,
        attention_waste=found.attention_waste,
        attention_overhead=found.attention_overhead,
    )
    head = f"{found.sequences:,} sequences of {found.useful_tokens:,} tokens, {found.strategy}"
    rows = [_row(own), *(_row(one) for one in _others(found))]
    return paragraphs(head, table(_HEADS, rows, _HEADS[1:]), section("why", found.why), section("advice", found.advice))


def to_svg(found: Padding) -> str:
    """Useful tokens and padding of every strategy."""
    groups = {
        one: [found.useful_tokens, tokens - found.useful_tokens]
        for one, tokens in [(found.strategy, found.padded_tokens), *((o.name, o.padded_tokens) for o in _others(found))]
    }
    return bars.stacked("Tokens that are computed", ("useful", "padding"), groups, words=found.why)


def _others(found: Padding) -> list[Padded]:
    return sorted(found.others, key=lambda one: -one.padded_tokens)


def _row(one: Padded) -> tuple[str, ...]:
    shares = (one.waste, one.overhead, one.attention_overhead)
    return (one.name, number(one.padded_tokens), *map(format_percent, shares))
