"""A GPU with some figures changed: `what_if(gpu, ["dram_bytes_per_s=2x", "num_sms=160"])`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..errors import FieldError
from ..units import format_plain, parse_quantity, unit_of
from .calibration import Calibration
from .catalog import gpu as catalog_gpu
from .dtype import DType
from .fields import COUNTS, MATH, NUMBERS, PEAKS, PER_CLOCK, TABLES, number, show, unknown
from .gpu import GPU
from .parse import require_ordered

_FACTOR = re.compile(r"([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?) *x|x *([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)", re.IGNORECASE)
_WHERE = "what_if"


def what_if(gpu: GPU | str | Path, changes: Sequence[str]) -> GPU:
    """The GPU with each `FIELD=VALUE` applied: a factor (`2x`) or a value (`160`, `192GB`, `2.1e9`).

    `gpu` may be a name or a path, as in `gpu()`. A field of a table has its format behind a point:
    `tensor_flop_per_s.bf16=1.5x`; a factor without one changes every format. Peaks follow `num_sms` and `clock_hz`, and
    setting a peak sets its rate. A higher `clock_hz` lifts `max_clock_hz` in proportion; nothing else follows. The
    order of `changes` does not matter, and each field is changed once; the peak and the rate of a format are one
    field here. Each change is a sentence in `assumptions`, and the key is marked, so that rows measured on the real GPU
    are not taken for this one.

    Raises:
        FieldError: an unknown field, a value that the field cannot have, or a field that is changed twice.
        UnknownNameError, FileFormatError: `gpu` is neither a name nor a file.
    """
    one = gpu if isinstance(gpu, GPU) else catalog_gpu(gpu)
    listed = list(map(_split, _listed(changes)))
    if not listed:
        return one
    _require_once(listed)
    changed = one
    for field, value in sorted(listed, key=_order):
        changed = _apply(changed, field, value)
    require_ordered({field: getattr(changed, field) for field in NUMBERS}, _WHERE)
    key = one.key if one.key.endswith("_what_if") else f"{one.key}_what_if"
    return replace(changed, key=key, calibration=_stand_in(one))


def _listed(changes: object) -> list[object]:
    """One text is one change."""
    if isinstance(changes, str):
        return [changes]
    if not isinstance(changes, Iterable) or isinstance(changes, Mapping | bytes):
        what = "a table" if isinstance(changes, Mapping) else show(changes)
        raise FieldError(f"{_WHERE}: {what} is not a list of changes; right would be ['dram_bytes_per_s=2x']")
    return list(changes)


def _require_once(changes: Iterable[tuple[str, str]]) -> None:
    """Raise FieldError where two changes set the same number."""
    before: list[tuple[str, str, str]] = []
    for field, _ in changes:
        stem, dtype = _target(field)
        for other_stem, other_dtype, other in before:
            if stem == other_stem and (dtype == other_dtype or not (dtype and other_dtype)):
                twice = "twice" if field == other else f"here and by {show(other)}"
                raise FieldError(f"{_WHERE}: {show(field)[1:-1]}: changed {twice}; right would be one change of it")
        before.append((stem, dtype, field))


def _target(field: str) -> tuple[str, str]:
    """What a change sets: a number, or the rate of a format, all formats where none is named."""
    stem, _, dtype = field.partition(".")
    pipe = next((name for name in PER_CLOCK if stem in (PER_CLOCK[name], PEAKS[name])), None)
    return (pipe, dtype) if pipe else (field, "")


def _stand_in(gpu: GPU) -> Calibration:
    """The record of the unchanged GPU, its launch floors marked as another's."""
    record = gpu.calibration
    own = record.launch_floor_s and not record.launch_floor_from
    return replace(record, launch_floor_from=gpu.key) if own else record


def _split(change: object) -> tuple[str, str]:
    if not isinstance(change, str):
        raise FieldError(f"{_WHERE}: {show(change)} is not text; right would be 'dram_bytes_per_s=2x'")
    field, _, value = (part.strip() for part in change.partition("="))
    if not field or not value:
        raise FieldError(f"{_WHERE}: {show(change)} is not FIELD=VALUE; right would be dram_bytes_per_s=2x")
    return field, value


def _order(change: tuple[str, str]) -> int:
    """SMs and clock before what they change, rates before peaks."""
    stem = change[0].partition(".")[0]
    groups: tuple[Sequence[str], ...] = (("num_sms", "clock_hz"), NUMBERS, list(PER_CLOCK.values()))
    return next((index for index, group in enumerate(groups) if stem in group), len(groups))


def _apply(gpu: GPU, field: str, value: str) -> GPU:
    stem, _, dtype = field.partition(".")
    if field in NUMBERS:
        return _number(gpu, field, value)
    if stem in TABLES:
        return _table(gpu, stem, dtype, value)
    raise FieldError(f"{_WHERE}: {unknown(field, [*NUMBERS, *TABLES])}")


def _number(gpu: GPU, field: str, value: str) -> GPU:
    before = getattr(gpu, field)
    after = number(field, _value(field, value, before), _WHERE)
    values: dict[str, Any] = {field: after}
    said = [_sentence(field, before, after, value)]
    if field == "clock_hz" and after > before:
        values["max_clock_hz"] = lifted = gpu.max_clock_hz * (after / before)
        said.append(_sentence("max_clock_hz", gpu.max_clock_hz, lifted, "as clock_hz"))
    return replace(gpu, assumptions=(*gpu.assumptions, *said), **values)


def _table(gpu: GPU, stem: str, dtype: str, value: str) -> GPU:
    """Change the rate of one format, or by a factor those of all."""
    pipe = next(name for name in PER_CLOCK if stem in (PER_CLOCK[name], PEAKS[name]))
    rates: Mapping[DType, float] = getattr(gpu, PER_CLOCK[pipe])
    if dtype and dtype not in MATH:
        raise FieldError(f"{_WHERE}: {stem}: {unknown(dtype, MATH, 'format')}")
    if not dtype and not _FACTOR.fullmatch(value):
        raise FieldError(f"{_WHERE}: {stem}: the format is missing; right would be {stem}.bf16={value[:20]}")
    per_clock = gpu.num_sms * gpu.clock_hz if stem in PEAKS.values() else 1.0
    changed, said = dict(rates), []
    for one in [DType(dtype)] if dtype else rates:
        before = rates[one] * per_clock if one in rates else None
        after = number(f"{stem}.{one}", _value(f"{stem}.{one}", value, before), _WHERE)
        changed[one] = after / per_clock
        said.append(_sentence(f"{stem}.{one}", before, after, value))
    values: dict[str, Any] = {PER_CLOCK[pipe]: MappingProxyType(changed)}
    return replace(gpu, assumptions=(*gpu.assumptions, *said), **values)


def _value(field: str, text: str, before: float | None) -> float:
    """A factor of what was, or a quantity in the field's unit; a factor of a count is rounded."""
    factor = _FACTOR.fullmatch(text)
    if factor is None:
        try:
            return parse_quantity(text, unit_of(field))
        except FieldError as error:
            raise FieldError(f"{_WHERE}: {field}: {error}") from error
    if before is None:
        raise FieldError(f"{_WHERE}: {field}: {show(text)} is a factor, but the GPU has no such rate; state the value")
    after = before * float(factor[1] or factor[2])
    return round(after) if field in COUNTS and after < 1e18 else after


def _sentence(field: str, before: float | None, after: float, why: str) -> str:
    was = "none" if before is None else format_plain(before)
    return f"{field}: {format_plain(after)} instead of {was} ({why[:40]})"
