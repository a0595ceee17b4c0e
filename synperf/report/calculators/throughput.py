"""What the figures of a serving benchmark come to, as text, as JSON and drawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...calculators.throughput import Throughput
from ...units import format_quantity
from ..charts import bars
from ..text import labelled, number, paragraphs, section


def to_dict(found: Throughput) -> dict[str, Any]:
    """Every field; without those that were not asked for."""
    return {name: value for name, value in asdict(found).items() if value is not None}


def to_text(found: Throughput) -> str:
    """Means over all requests, and what joins them."""
    lines = [
        ("answer", f"{number(found.mean_output_tokens)} tokens in {format_quantity(found.mean_latency_s, 's')}"),
        ("rate", f"{number(found.request_rate_per_s)} requests/s"),
        ("in flight", f"{number(found.mean_concurrency)} requests"),
        ("one request", f"{number(found.tokens_per_s_per_user)} tokens/s"),
        ("all", f"{number(found.tokens_per_s)} tokens/s"),
        ("prompts", "" if found.input_tokens_per_s is None else f"{number(found.input_tokens_per_s)} tokens/s"),
    ]
    verdict = "the figures agree" if found.consistent else "the figures do not agree"
    return paragraphs(verdict, labelled(lines), section("why", found.why), section("findings", found.findings))


def to_svg(found: Throughput) -> str:
    """The rate of all beside that of one."""
    rates = {"all requests": [found.tokens_per_s], "one of them": [found.tokens_per_s_per_user]}
    return bars.side_by_side("Tokens a second", (), rates, words=(*found.why, *found.findings))
