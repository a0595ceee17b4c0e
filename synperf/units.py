"""SI prefixes, read and written. Inside synperf every quantity is SI without a prefix; this module alone knows them.

GB is 1e9 bytes (DRAM, bandwidth), GiB is 2**30 (caches). A ratio is 0..1 inside and `%` when written.
"""

from __future__ import annotations

import re
from math import floor, isfinite, log10

from .errors import FieldError

_LARGE = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}
_SMALL = {"m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9}  # both signs of micro
_PREFIX = _LARGE | _BINARY | _SMALL
_SPELLINGS = {"FLOPS": "FLOP/s"}
_QUANTITY = re.compile(
    r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([KMGTP]i|[kKMGTPEmuµμn]?)(B/s|B|FLOP/s|FLOPS|FLOP|Hz|s|W)?",
    re.ASCII,
)
_EXAMPLES = {"B/s": "4.8TB/s", "B": "192GB", "FLOP/s": "989e12", "Hz": "1.83GHz", "s": "12us", "W": "700W"}
_ENDINGS = {"bytes_per_s": "B/s", "flop_per_s": "FLOP/s", "flop": "FLOP", "hz": "Hz", "bytes": "B", "w": "W", "s": "s"}


def unit_of(field: str) -> str:
    """The unit that a field's name carries: `dram_bytes_per_s` has `B/s`, `num_sms` has none."""
    stem = "_" + field.partition(".")[0].replace("_per_clk", "").replace("_per_sm", "").replace("_per_cta", "")
    return next((unit for ending, unit in _ENDINGS.items() if stem.endswith("_" + ending)), "")


def parse_quantity(text: str, unit: str = "") -> float:
    """The number that `192GB`, `48 MiB`, `2.1GHz`, `4.8T` or `2.1e9` stands for. A unit may be left out, not exchanged.

    Raises:
        FieldError: no such number, or a unit other than `unit`.
    """
    shown = text.strip()[:40]
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise FieldError(f"{shown!r} is not a number with an optional prefix; right would be {_example(unit)}")
    digits, prefix, written = match[1], match[2], _SPELLINGS.get(match[3] or "", match[3] or "")
    if prefix in _SMALL and not written:
        raise FieldError(f"{shown!r} has the prefix {prefix!r} without a unit; right would be {_example(unit)}")
    if written not in ("", unit):
        raise FieldError(f"{shown!r} is in {written}; right would be {_example(unit)}")
    value = float(digits) * _PREFIX[prefix]
    if not isfinite(value):
        raise FieldError(f"{shown!r} is too large")
    return value


def _example(unit: str) -> str:
    """A quantity of this unit, as a user may write it."""
    return _EXAMPLES.get(unit, "160")


def format_quantity(value: float, unit: str = "", digits: int = 3) -> str:
    """With the SI prefix that leaves 1 to 999 before the point: `4.8 TB/s`, `700 W`; past all of them `1.9e25 B`."""
    if not isfinite(value) or value == 0:
        return f"{value:g} {unit}".rstrip()
    value = _rounded(value, digits)
    if abs(value) >= 1e3 * _LARGE["E"]:
        return f"{format_plain(value, digits)} {unit}".rstrip()
    prefix = next((p for p in reversed("kMGTPE") if abs(value) >= _LARGE[p]), "")
    return f"{_plain(value / _LARGE[prefix], digits)} {prefix}{unit}".rstrip()


def format_binary(value: float, digits: int = 3) -> str:
    """Bytes of a cache or of shared memory: `50 MiB`, `99 KiB`."""
    prefix = next((p for p in ("Pi", "Ti", "Gi", "Mi", "Ki") if abs(value) >= _BINARY[p]), "")
    return f"{_plain(value / _BINARY.get(prefix, 1.0), digits + 1 if prefix else digits)} {prefix}B"


def counted(number: int, noun: str) -> str:
    """`1 row`, `1,200 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_time(value_s: float, digits: int = 3) -> str:
    """In the unit with 1 to 999 before the point: `171 µs`, `1.32 ms`, `12.4 s`; from a million on `2.9e13 s`."""
    if not isfinite(value_s) or value_s == 0:
        return f"{value_s:g} s"
    value = _rounded(value_s, digits)
    if abs(value) >= 1e6:
        return f"{format_plain(value, digits)} s"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(value) >= size * (1 - 1e-12):  # 0.001 / 1e-3 may fall short of 1 by a rounding error
            return f"{_plain(value / size, digits)} {unit}"
    return f"{_plain(value / 1e-9, digits)} ns"


def format_percent(ratio: float, digits: int = 3) -> str:
    """A ratio of 0..1 as `81 %`."""
    return f"{_plain(100 * ratio, digits)} %"


def format_plain(value: float, digits: int = 4) -> str:
    """Without a prefix, as a spec file has it: `1.1e13`, `160`, `0.25`."""
    if abs(value) < 1e6 and float(value).is_integer():
        return str(int(value))
    mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def _rounded(value: float, digits: int) -> float:
    """`value` with that many significant digits, so that 999.6 already counts as 1000."""
    return float(f"{value:.{digits}g}")


def _plain(value: float, digits: int) -> str:
    """Significant digits without trailing zeros, `24`, `1.32`, `1000`; exponents from 1e6 on and below 1e-6."""
    if value == 0 or not isfinite(value):
        return f"{value:g}"
    if not 1e-6 <= abs(value) < 1e6:
        return format_plain(value, digits)
    text = f"{value:.{max(0, digits - 1 - floor(log10(abs(value))))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
