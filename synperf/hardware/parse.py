"""TOML text -> GPU. A file is checked field by field, then as a whole: peak = SMs x rate x clock within 1 %."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..errors import FieldError, FileFormatError, UnknownNameError
from ..units import format_plain
from . import capability
from .dtype import DType
from .fields import NUMBERS, PEAKS, PER_CLOCK, TEXTS, Document, check
from .gpu import GPU

MAX_FILE_BYTES = 64 * 1024  # a GPU file has about 3 KB
MAX_LINE = 1000  # characters; the time to read a dotted key grows with the square of its length
_ORDERED = (
    ("clock_hz", "max_clock_hz"),
    ("base_clock_hz", "max_clock_hz"),
    ("shared_bytes_per_cta", "shared_bytes_per_sm"),
)
FILE_ORDER = (*_ORDERED, ("base_clock_hz", "clock_hz"))  # a what-if may take the clock below the base
TOLERANCE = 0.01  # between a printed peak and SMs x rate x clock: data sheets round


def read_text(path: Path) -> str:
    """The text of a small file.

    Raises:
        FileFormatError: no such file, not a plain file, not readable, too large, or not text.
    """
    shown = printable(path)
    try:
        if not path.is_file():
            raise FileFormatError(f"{shown}: {'not a file' if path.exists() else 'no such file'}")
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or "not a file name"
        raise FileFormatError(f"{shown}: cannot be read ({reason})") from error
    if len(raw) > MAX_FILE_BYTES:
        raise FileFormatError(f"{shown}: larger than {MAX_FILE_BYTES // 1024} KiB, a file of this kind has a few")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{shown}: not TOML text, byte {error.start} is not UTF-8") from error


def printable(path: Path | str) -> str:
    """A path on one line, whatever characters it has."""
    return "".join(c if c.isprintable() else "?" for c in str(path))[:200]


def toml(text: str, where: str) -> dict[str, Any]:
    """The TOML document.

    Raises:
        FileFormatError: not TOML; the message has the line.
    """
    for index, line in enumerate(text.splitlines(), 1):
        if len(line) > MAX_LINE:
            raise FileFormatError(f"{where}: line {index} has more than {MAX_LINE} characters")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise FileFormatError(f"{where}: nested too deeply") from error
    except ValueError as error:  # TOMLDecodeError, or a number of too many digits
        raise FileFormatError(f"{where}: not TOML: {printable(str(error))}") from error


def parse(text: str, key: str, where: str) -> GPU:
    """The GPU of a complete file; `where` names it in messages.

    Raises:
        FileFormatError: not TOML.
        FieldError: a field is unknown, missing, of the wrong type or out of range, or two contradict each other.
    """
    return build(check(toml(text, where), where), key, where)


def build(document: Document, key: str, where: str, assumptions: tuple[str, ...] = ()) -> GPU:
    """The GPU of a checked document, with the limits of its compute capability where it states none of its own."""
    for field in (*TEXTS, "num_sms", "clock_hz"):
        if field not in document:
            raise FieldError(f"{where}: {field} is missing")
    inherited = limits(document["compute_capability"], where)
    rates, said = flop_per_clk_per_sm(document, where)
    values = {**inherited, **document}
    missing = [field for field in NUMBERS if field not in values]
    if missing or not rates["fma"].get(DType.FP32):
        raise FieldError(f"{where}: {missing[0] if missing else PER_CLOCK['fma'] + '.fp32'} is missing")
    inherited_from = capability.sources(capability.capability(document["compute_capability"]).maker)
    sources = {field: text for field, text in inherited_from.items() if field in inherited.keys() - document}
    gpu = GPU(
        key=key,
        **{field: values[field] for field in (*TEXTS, *NUMBERS)},
        tensor_flop_per_clk_per_sm=MappingProxyType(rates["tensor"]),
        fma_flop_per_clk_per_sm=MappingProxyType(rates["fma"]),
        sources=MappingProxyType(sources | document.get("sources", {})),
        notes=MappingProxyType(document.get("notes", {})),
        aliases=document.get("aliases", ()),
        assumptions=(*assumptions, *said),
    )
    require_ordered({field: getattr(gpu, field) for field in NUMBERS}, where, FILE_ORDER)
    return gpu


def limits(compute_capability: str, where: str) -> dict[str, float]:
    """What every GPU of this compute capability inherits.

    Raises:
        FieldError: the compute capability is not in the table.
    """
    try:
        known = capability.capability(compute_capability)
    except UnknownNameError as error:
        raise FieldError(f"{where}: compute_capability: {error}") from error
    return {field: getattr(known, field) for field in capability.GPU_FIELDS}


def flop_per_clk_per_sm(document: Document, where: str) -> tuple[dict[str, dict[DType, float]], list[str]]:
    """Rates by pipe and format, those of a peak alone computed from it, and a sentence for each computed one.

    Raises:
        FieldError: a peak differs from SMs x rate x clock by more than 1 %.
    """
    rates: dict[str, dict[DType, float]] = {}
    said = []
    per_clock = document["num_sms"] * document["clock_hz"]
    for pipe, field in PER_CLOCK.items():
        rates[pipe] = dict(document.get(field, {}))
        for dtype, peak in document.get(PEAKS[pipe], {}).items():
            if dtype not in rates[pipe]:
                rates[pipe][dtype] = peak / per_clock
                said.append(f"{field}.{dtype}: {format_plain(peak / per_clock)}, its peak over num_sms and clock_hz")
            _require_same(f"{PEAKS[pipe]}.{dtype}", peak, rates[pipe][dtype] * per_clock, where)
    return rates, said


def _require_same(field: str, peak: float, product: float, where: str) -> None:
    if abs(product / peak - 1) > TOLERANCE:
        raise FieldError(
            f"{where}: {field}: {format_plain(peak)} is not num_sms x rate x clock_hz, {format_plain(product)}; "
            "right would be a dense peak at clock_hz, within 1 %"
        )


def require_ordered(values: Mapping[str, Any], where: str, order: Iterable[tuple[str, str]] = _ORDERED) -> None:
    """Raise FieldError where a value is above the one that bounds it; fields without a value are passed over."""
    for less, more in order:
        if {less, more} <= values.keys() and values[less] > values[more]:
            low, high = format_plain(values[less], 7), format_plain(values[more], 7)
            raise FieldError(f"{where}: {less}: {low} is above {more}, {high}")
