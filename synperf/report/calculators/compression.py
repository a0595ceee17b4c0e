"""Whether compressing pays, as text, as JSON and drawn."""

from __future__ import annotations

from typing import Any

from ...calculators.compression import Compression
from ...units import format_quantity, format_time
from ..charts import bars
from ..known import known
from ..text import labelled, paragraphs, section


def to_dict(found: Compression) -> dict[str, Any]:
    """Every field that there is."""
    return known(found)


def to_text(found: Compression) -> str:
    """The verdict, both times, and the limits."""
    head = f"worth it: {format_time(found.net_s)} less" if found.worth_it else (
        f"not worth it: {format_time(-found.net_s)} more"
    )  # fmt: skip
    limit, ratio = found.bandwidth_limit, found.least_ratio
    lines = [
        ("as it is", format_time(found.plain_s)),
        ("compressed", f"{format_time(found.compressed_s)}, {format_time(found.codec_s)} of it the codec"),
        ("saved", f"{format_time(found.saving_s)} of sending"),
        ("pays below", "" if limit is None else format_quantity(limit, "B/s")),
        ("pays from", "" if ratio is None else f"a ratio of {ratio:.4g} on"),
    ]
    return paragraphs(head, labelled(lines), section("why", found.why), section("advice", found.advice))


def to_svg(found: Compression) -> str:
    """Sending as it is beside sending less and the codec."""
    rows = {"as it is": [found.plain_s, 0.0], "compressed": [found.plain_s / found.ratio, found.codec_s]}
    return bars.stacked("Sending gradients", ("sending", "codec"), rows, format_time, words=found.why)
