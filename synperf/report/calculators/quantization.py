"""What fewer bits give and what they lose, as text, as JSON and drawn."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ...calculators.quantization import Quantization
from ...calculators.quantization_error import QuantizationError
from ...units import format_percent, format_quantity
from ..charts import bars
from ..text import labelled, number, paragraphs, section, table

_HEADS = ("scale for each", "SQNR", "mean square error", "greatest error", "saturated", "scales")


@dataclass(frozen=True, slots=True)
class Both:
    """The answers that were asked for: of a GPU's formats, of a tensor, or of both."""

    speed: Quantization | None
    error: QuantizationError | None

    @property
    def why(self) -> tuple[str, ...]:
        return tuple(said for one in (self.speed, self.error) if one for said in one.why)

    @property
    def advice(self) -> tuple[str, ...]:
        return tuple(said for one in (self.speed, self.error) if one for said in one.advice)


def to_dict(found: Both) -> dict[str, Any]:
    """Every field of both, without those that were not asked for."""
    merged = {key: value for one in (found.speed, found.error) if one for key, value in asdict(one).items()}
    kept = {key: value for key, value in merged.items() if value is not None}
    return kept | {"why": found.why, "advice": found.advice}


def to_text(found: Both) -> str:
    """Speed first, then errors by scheme and the values of the tensor."""
    return paragraphs(
        "" if found.speed is None else _speed(found.speed),
        "" if found.error is None else _errors(found.error),
        section("why", found.why),
        section("advice", found.advice),
    )


def to_svg(found: Both) -> str:
    """The histogram of the tensor; without one, how many times faster and smaller."""
    if found.error is not None:
        counts = dict(zip(map(_edge, found.error.edges), ([n] for n in found.error.histogram), strict=False))
        return bars.side_by_side(f"Values of the tensor, {found.error.format}", (), counts, words=found.error.why)
    speed = found.speed
    gains = {} if speed is None else {"math": [speed.compute_speedup], "memory": [speed.memory_speedup]}
    names = "" if speed is None else f"{speed.before} to {speed.after} on {speed.gpu}: times faster"
    return bars.side_by_side(names, (), gains, words=found.why)


def _speed(one: Quantization) -> str:
    return paragraphs(
        f"{one.before} to {one.after} on {one.gpu}",
        labelled([
            ("math-bound", f"{number(one.compute_speedup)} times"),
            ("memory-bound", f"{number(one.memory_speedup)} times"),
            ("weights", _bytes(one.weights_bytes_before, one.weights_bytes_after)),
            ("cache", _bytes(one.kv_bytes_per_token_before, one.kv_bytes_per_token_after, " a token")),
            ("break-even", "" if one.break_even_n is None else f"n = {one.break_even_n:,.0f} columns of weights"),
        ]),
    )  # fmt: skip


def _bytes(before: float | None, after: float | None, each: str = "") -> str:
    if before is None or after is None:
        return ""
    return f"{format_quantity(before, 'B', 4)} to {format_quantity(after, 'B', 4)}{each}"


def _errors(one: QuantizationError) -> str:
    shape = " x ".join(map(str, one.shape))
    rows = [
        (
            scheme.scheme,
            "exact" if scheme.sqnr_db is None else f"{scheme.sqnr_db:.1f} dB",
            f"{scheme.mse:.3g}",
            f"{scheme.max_error:.3g}",
            format_percent(scheme.saturation),
            f"{scheme.scales:,}",
        )
        for scheme in one.schemes
    ]
    head = f"{shape} values from {one.low:.4g} to {one.high:.4g} as {one.format}"
    return paragraphs(head, table(_HEADS, rows, _HEADS[1:]), section("values", _bins(one)))


def _bins(one: QuantizationError) -> list[str]:
    """Eight bars of the histogram, of four bins each."""
    pairs = [(one.edges[at], sum(one.histogram[at : at + 4])) for at in range(0, len(one.histogram), 4)]
    most = max(count for _, count in pairs)
    return [f"{_edge(edge):>10}  {'#' * round(40 * count / most)} {count:,}" for edge, count in pairs]


def _edge(value: float) -> str:
    return f"{value:.3g}"
