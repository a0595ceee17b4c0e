"""What a tensor loses when it is stored in few bits with a scale for all of it, for each channel or for each group.

A scale is the greatest magnitude (or a percentile of magnitudes, above which values saturate) over the greatest value
of the format, so that symmetric int8 has max|x| / 127. SQNR is 10 log10(sum x^2 / sum error^2) dB.

Source: R. Krishnamoorthi, "Quantizing deep convolutional networks for efficient inference", arXiv 1806.08342; formats
as in `number_grids`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log10

import numpy as np

from ..errors import FieldError, UnknownNameError
from ..units import format_percent
from .amounts import count, extent, number
from .number_grids import Format, format_named, greatest, rounded

SCHEMES = ("tensor", "channel", "group")
_PIECE = 1 << 22  # values that are looked at at once
_BINS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemeError:
    """Errors of one scheme. `saturation` is the share of values beyond the range, `scale_bytes` what scales take."""

    scheme: str
    scales: int
    scale_bytes: float
    mse: float
    max_error: float
    sqnr_db: float | None  # None where nothing is lost
    saturation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantizationError:
    """Every scheme on one tensor, and its values: `histogram` counts them in bins of one width between the edges."""

    format: str
    values: int
    shape: tuple[int, ...]
    bits_per_value: float  # of the scheme that was asked for, with its scales
    scheme: str
    mse: float
    max_error: float
    sqnr_db: float | None
    saturation: float
    schemes: tuple[SchemeError, ...]
    low: float
    high: float
    largest_over_rms: float
    histogram: tuple[int, ...]
    edges: tuple[float, ...]
    why: tuple[str, ...]
    advice: tuple[str, ...]


def quantization_error(
    tensor: np.ndarray, *, format: str = "int8", scheme: str = "tensor", group: int = 128, axis: int = 0,
    percentile: float = 100.0, scale_bits: int = 16,
) -> QuantizationError:  # fmt: skip
    """What rounding this tensor to a format loses, by `scheme` and, beside it, by the others.

    Args:
        tensor: any shape, on disk or in memory; a vector has one channel.
        format: `int8`, `int4`, `fp8_e4m3`, `fp8_e5m2` or `fp4_e2m1`.
        scheme: one scale for the `tensor`, for each `channel` of `axis`, or for each `group` of values of a channel.
        percentile: of the magnitudes under one scale, which its range ends at; 100 is the greatest.
        scale_bits: of a stored scale.

    Raises:
        FieldError: an empty tensor, values that are not finite numbers, or an option out of range.
        UnknownNameError: no such format or scheme.
    """
    if scheme not in SCHEMES:
        raise UnknownNameError(f"scheme: {UnknownNameError.among('scheme', scheme, SCHEMES)}")
    kind, size, bits = format_named(format), extent("group", group), count("scale_bits", scale_bits, 64)
    if not 0 < number("percentile", percentile) <= 100:
        raise FieldError(f"percentile must be above 0 and up to 100, got {percentile:g}")
    rows = _rows(tensor, axis)
    span = _span(rows)
    found = {one: _scheme(rows, one, kind, size, percentile, span, bits) for one in SCHEMES}
    mine = found[scheme]
    counts, edges = _histogram(rows, span)
    return QuantizationError(
        format=format,
        values=rows.size,
        shape=tuple(tensor.shape),
        bits_per_value=kind.bits + 8 * mine.scale_bytes / rows.size,
        scheme=scheme,
        mse=mine.mse,
        max_error=mine.max_error,
        sqnr_db=mine.sqnr_db,
        saturation=mine.saturation,
        schemes=tuple(found.values()),
        low=span.low,
        high=span.high,
        largest_over_rms=span.magnitude / span.rms if span.rms else 1.0,
        histogram=tuple(counts.tolist()),
        edges=tuple(edges.tolist()),
        why=_why(mine, kind, span),
        advice=_advice(mine, found, kind),
    )


@dataclass(frozen=True, slots=True)
class _Span:
    low: float
    high: float
    rms: float

    @property
    def magnitude(self) -> float:
        return max(abs(self.low), abs(self.high))


def _rows(tensor: np.ndarray, axis: int) -> np.ndarray:
    """A view with channels first and all else behind."""
    if tensor.size == 0 or tensor.dtype.kind not in "fiu":
        raise FieldError(f"tensor must hold numbers, got shape {tensor.shape} of {tensor.dtype}")
    if tensor.ndim < 2:
        return tensor.reshape(1, -1)
    if not -tensor.ndim <= number("axis", axis) < tensor.ndim:
        raise FieldError(f"axis must be from {-tensor.ndim} to {tensor.ndim - 1} for shape {tensor.shape}, got {axis}")
    first = np.moveaxis(tensor, axis, 0)
    return first.reshape(first.shape[0], -1)


def _pieces(rows: np.ndarray) -> list[slice]:
    step = max(1, _PIECE // rows.shape[1])
    return [slice(start, start + step) for start in range(0, rows.shape[0], step)]


def _span(rows: np.ndarray) -> _Span:
    low, high, squares = np.inf, -np.inf, 0.0
    for piece in _pieces(rows):
        values = rows[piece].astype(np.float64)
        low, high = min(low, float(values.min())), max(high, float(values.max()))
        squares += float((values**2).sum())
    if not np.isfinite(squares):
        raise FieldError("tensor has values that are not finite, or too large to be squared")
    return _Span(low, high, (squares / rows.size) ** 0.5)


def _scheme(
    rows: np.ndarray, scheme: str, kind: Format, group: int, percentile: float, span: _Span, bits: int
) -> SchemeError:
    whole_range = (
        _range(np.abs(_flat(rows))[None], percentile)[0, 0] if scheme == "tensor" and percentile < 100 else None
    )
    squared, worst, outside, scales, energy = 0.0, 0.0, 0, 0, 0.0
    for piece in _pieces(rows):
        values = rows[piece].astype(np.float64)
        if scheme == "tensor":
            ends = np.full((1, 1), span.magnitude if whole_range is None else whole_range)
            scales = 1
        else:
            values = _grouped(values, group) if scheme == "group" else values
            ends = _range(np.abs(values), percentile)
            scales += int(values.shape[0])
        scale = np.where(ends > 0, ends / greatest(kind), 1.0)
        error = values - rounded(values / scale, kind) * scale
        squared += float((error**2).sum())
        energy += float((values**2).sum())
        worst = max(worst, float(np.abs(error).max()))
        outside += int((np.abs(values) > ends * (1 + 1e-12)).sum())
    return SchemeError(
        scheme=f"{scheme} of {group}" if scheme == "group" else scheme,
        scales=scales,
        scale_bytes=scales * bits / 8,
        mse=squared / rows.size,
        max_error=worst,
        sqnr_db=10 * log10(energy / squared) if squared > 0 and energy > 0 else None,
        saturation=outside / rows.size,
    )


def _flat(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows, dtype=np.float64).reshape(-1)


def _grouped(values: np.ndarray, group: int) -> np.ndarray:
    """Rows of `group` values; the last of a channel is filled up with zeros, which round to themselves."""
    short = -values.shape[1] % group
    return np.pad(values, ((0, 0), (0, short))).reshape(-1, group)


def _range(sizes: np.ndarray, percentile: float) -> np.ndarray:
    """Where the range of each row ends, as a column."""
    if percentile == 100:
        return np.asarray(sizes.max(axis=1, keepdims=True))
    return np.asarray(np.percentile(sizes, percentile, axis=1, keepdims=True))


def _histogram(rows: np.ndarray, span: _Span) -> tuple[np.ndarray, np.ndarray]:
    high = span.high if span.high > span.low else span.low + 1.0
    edges = np.linspace(span.low, high, _BINS + 1)
    counts = np.zeros(_BINS, dtype=np.int64)
    for piece in _pieces(rows):
        counts += np.histogram(rows[piece].astype(np.float64), edges)[0]
    return counts, edges


def _why(mine: SchemeError, kind: Format, span: _Span) -> tuple[str, ...]:
    ratio = span.magnitude / span.rms if span.rms else 1.0
    sqnr = "nothing is lost" if mine.sqnr_db is None else f"SQNR is {mine.sqnr_db:.1f} dB"
    return (
        f"the greatest magnitude, {span.magnitude:.4g}, is {ratio:.3g} times the root mean square: a scale that covers "
        f"it leaves {greatest(kind) / ratio:.3g} steps of the format for a usual value",
        f"{mine.scheme}: {sqnr}, the greatest error {mine.max_error:.3g}, {format_percent(mine.saturation)} of values "
        "saturate",
    )


def _advice(mine: SchemeError, found: dict[str, SchemeError], kind: Format) -> tuple[str, ...]:
    if mine.sqnr_db is None:
        return ("every value is held exactly",)
    best = max(found.values(), key=lambda one: float("inf") if one.sqnr_db is None else one.sqnr_db)
    if best is mine:
        more = "more bits" if kind.bits < 8 else "smaller groups"
        return (f"no other scheme loses less; {more} would",)
    gain = "loses nothing" if best.sqnr_db is None else f"gains {best.sqnr_db - mine.sqnr_db:.1f} dB"
    return (f"a scale for each {best.scheme} {gain} and takes {best.scales:,} scales in the place of {mine.scales:,}",)
