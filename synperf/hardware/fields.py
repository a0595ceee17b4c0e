"""Every field of a GPU file: its kind and its range, wide enough to catch only a wrong unit or a slip of the hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import FieldError
from ..units import format_plain
from .dtype import DType

Document = dict[str, Any]  # a GPU file, checked field by field

TEXTS = ("name", "architecture", "compute_capability")
COUNTS = (
    "num_sms", "warp_size", "shared_bytes_per_sm", "shared_bytes_per_cta", "reserved_shared_bytes_per_cta",
    "shared_granularity_bytes", "registers_per_sm", "max_registers_per_thread", "max_threads_per_cta",
    "max_warps_per_sm", "max_ctas_per_sm",
)  # fmt: skip
RATES = (
    "base_clock_hz", "clock_hz", "max_clock_hz", "xu_op_per_clk_per_sm", "dram_bytes", "dram_bytes_per_s", "l2_bytes",
    "l2_bytes_per_s", "shared_bytes_per_clk_per_sm", "power_w", "nvlink_bytes_per_s", "pcie_bytes_per_s",
)  # fmt: skip
NUMBERS = COUNTS + RATES
PER_CLOCK = {"tensor": "tensor_flop_per_clk_per_sm", "fma": "fma_flop_per_clk_per_sm"}
PEAKS = {"tensor": "tensor_flop_per_s", "fma": "fma_flop_per_s"}
TABLES = (*PER_CLOCK.values(), *PEAKS.values())
WORDS = ("sources", "notes", "stand_ins")
KNOWN = (*TEXTS, *NUMBERS, *TABLES, *WORDS, "aliases")
MATH = tuple(d.value for d in DType if d.rate is d)  # fp8_block multiplies as fp8
MAY_BE_ZERO = ("reserved_shared_bytes_per_cta", "nvlink_bytes_per_s", "pcie_bytes_per_s")

_RANGES = {  # by the ending of the name; the first that fits
    "num_sms": (1, 1e6),
    "_hz": (1e6, 1e12),
    "_bytes_per_s": (1e6, 1e18),
    "_flop_per_s": (1e6, 1e21),
    "_per_clk_per_sm": (1e-3, 1e9),
    "dram_bytes": (1e6, 1e15),
    "l2_bytes": (1e3, 1e12),
    "power_w": (1e-2, 1e6),
    "": (1, 1e9),
}


def check(document: Mapping[str, Any], where: str) -> Document:
    """The document with every value of its field's type and range, whole numbers as int, the others as float.

    Raises:
        FieldError: an unknown field, a wrong type, a number out of range; the message names the file and the field.
    """
    checked: Document = {}
    for field, value in document.items():
        if field not in KNOWN:
            raise FieldError(f"{where}: {unknown(field, KNOWN)}")
        checked[field] = _value(field, value, where)
    return checked


def _value(field: str, value: Any, where: str) -> Any:
    if field in TEXTS:
        return _text(field, value, where)
    if field in NUMBERS:
        return number(field, value, where)
    if field in TABLES:
        return _rates(field, value, where)
    if field in WORDS:
        return {key: _text(f"{field}.{key}", text, where) for key, text in _table(field, value, where).items()}
    if not isinstance(value, list):
        raise FieldError(f"{where}: {field}: {show(value)} is not a list of names")
    return tuple(_text(field, one, where) for one in value)


def number(field: str, value: Any, where: str) -> float:
    """`value` as a number of this field; `field` may be dotted, `tensor_flop_per_s.bf16`.

    Raises:
        FieldError: not a number, not whole where a count is due, or out of range.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FieldError(f"{where}: {field}: {show(value)} is not a number")
    least, most = range_of(field)
    if not least <= value <= most:  # false for nan too
        raise FieldError(f"{where}: {field}: {show(value)} is not within {format_plain(least)} to {format_plain(most)}")
    if field not in COUNTS:
        return float(value)
    if value != int(value):
        raise FieldError(f"{where}: {field}: {show(value)} is not a whole number")
    return int(value)


def range_of(field: str) -> tuple[float, float]:
    """The least and the largest value of a number."""
    stem = field.partition(".")[0]
    least, most = next(bounds for ending, bounds in _RANGES.items() if stem.endswith(ending))
    return (0.0 if stem in MAY_BE_ZERO else least), most


def _rates(field: str, value: Any, where: str) -> dict[DType, float]:
    table = _table(field, value, where)
    for key in table:
        if key not in MATH:
            raise FieldError(f"{where}: {field}: {unknown(key, MATH, 'format')}")
    return {DType(key): float(number(f"{field}.{key}", one, where)) for key, one in table.items()}


def _table(field: str, value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FieldError(f"{where}: {field}: {show(value)} is not a table; right would be [{field}]")
    return value


def _text(field: str, value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise FieldError(f"{where}: {show(field, 60)[1:-1]}: {show(value)} is not text; right would be text in quotes")
    if not value.strip():
        raise FieldError(f"{where}: {show(field, 60)[1:-1]}: the text is empty")
    if not value.isprintable():
        raise FieldError(f"{where}: {show(field, 60)[1:-1]}: {show(value)} has characters that cannot be printed")
    return value


def unknown(field: str, known: Iterable[str], kind: str = "field") -> str:
    """`unknown field 'clok_hz'; nearest: clock_hz`, or all known names where none is near."""
    from difflib import get_close_matches  # only an error needs it

    names = sorted(known)
    near = get_close_matches(field[:60].lower(), names, n=3, cutoff=0.5)
    return f"unknown {kind} {show(field)}; {'nearest' if near else 'known'}: {', '.join(near or names)}"


def show(value: Any, most: int = 40) -> str:
    """A value as it stood in the file, shortened to one short line."""
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    if isinstance(value, float):
        return format_plain(value, 6)
    try:
        return repr(value[:most] if isinstance(value, str) else value)[: most + 2]
    except ValueError:  # an integer of more digits than Python writes
        return "a number of thousands of digits"
