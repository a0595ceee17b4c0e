"""What the columns of a user's file mean: which one holds the times, and in which unit; which are not read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields

from ..errors import FieldError
from ..kernels import KernelFamily
from ..tables.headings import check_spelling
from .plausible import UNITS_S
from .schema import SAME_AS, labels_of, numbers_of

STEMS = ("time", "latency", "duration", "elapsed", "runtime", "measured")
TEXTS = ("family", "gpu", "engine", "kernel", "version")
IS_TEST = "is_test"
BIASED = "biased"
L2 = "l2"


def time_column(names: Iterable[str]) -> tuple[str, str]:
    """(column, unit) of the one column of times: `latency_ms`, `Duration (ns)`, `time_us`.

    Raises:
        FieldError: there is none, it has no unit, or there are several.
    """
    spelled = {name: _bare(name) for name in names}
    stems = [name for name, bare in spelled.items() if bare in STEMS]
    found = [(name, unit) for name, bare in spelled.items() for unit in UNITS_S if _is_time(bare, unit)]
    if len(found) > 1:
        raise FieldError(f"columns {' and '.join(name for name, _ in found)} are both times; keep one")
    if found:
        return found[0]
    if stems:
        right = ", ".join(f"{_bare(stems[0])}_{unit}" for unit in UNITS_S)
        raise FieldError(f"column {stems[0]} has no unit in its name; right would be one of {right}")
    right = f"{', '.join(STEMS)}, with _s, _ms, _us or _ns after it"
    raise FieldError(f"no column of times among {_listed(spelled)}; right would be one of {right}")


def texts(kind: KernelFamily) -> tuple[str, ...]:
    """Columns of which a row's key has one value of text or truth: those of every family, and the family's own."""
    return (*TEXTS, *labels_of(kind.name))


def check_columns(names: Iterable[str], kind: KernelFamily) -> None:
    """Checks that the fields without a default are there, and that none is overlooked for its spelling.

    Raises:
        FieldError: naming the column.
    """
    names = list(names)
    check_spelling(names, kind)
    defaults = {f.name: f.default for f in fields(kind.call_type)}
    needed = [field for field in numbers_of(kind.name) if defaults[field] is None and field not in SAME_AS]
    missing = [field for field in (*needed, *kind.required()) if field not in names]
    if missing:
        raise FieldError(f"no column {', '.join(missing)} among {_listed(names)}")


def ignored(names: Iterable[str], kind: KernelFamily, times: str) -> tuple[str, ...]:
    """Columns that are not read."""
    read = {*numbers_of(kind.name), *texts(kind), IS_TEST, BIASED, L2, times}
    return tuple(name for name in names if name not in read)


def _bare(name: str) -> str:
    """A name in lower case, its separators as `_`; both signs of micro are `u`."""
    micro = name.replace("µ", "u").replace("μ", "u")
    return re.sub(r"[^a-z0-9]+", "_", micro.lower()).strip("_")


def _is_time(bare: str, unit: str) -> bool:
    stem, _, ending = bare.rpartition("_")
    return stem in STEMS and ending == unit


def _listed(names: Iterable[str]) -> str:
    text = ", ".join(names)
    return text if len(text) <= 80 else text[:77] + "..."
