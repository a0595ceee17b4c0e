"""Measured serving points of aiconfigurator-core: its `silicon_sample.csv`, mended, and set aside by named rules.

What is mended and set aside, and why, is in silicon.toml; docs/stacks.md has the counts.
"""

from __future__ import annotations

import csv
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from ..errors import FileFormatError
from .aiconfigurator import folder
from .points import Points

FILE = "silicon_sample.csv"
_KEY = (
    "model_path", "system", "backend", "precision", "mode", "isl", "osl", "batch_size", "tp_size", "pp_size",
    "attention_dp_size", "moe_tp_size", "moe_ep_size",
)  # fmt: skip
_OTHERS = ("id", "silicon_data_source", "backend_version", "silicon_ttft_ms", "silicon_tpot_ms")
_MS = 1e-3


class Layout(NamedTuple):
    """How ranks share a model: experts by `moe_tp` x `ep` of them."""

    tp: int
    dp: int
    moe_tp: int
    ep: int


class Row(NamedTuple):
    """A row of the file, with what its columns mean."""

    stored: Mapping[str, str]
    layout: Layout
    ttft_s: float
    tpot_s: float
    is_test: bool

    @property
    def concurrency(self) -> int:
        """Requests at once; 0 where the row does not say."""
        return int(self.stored["batch_size"] or 0)

    @property
    def times(self) -> tuple[str, float, float]:
        """What rows that are copies of each other share: some are stored with two decimals."""
        return self.stored["system"], round(self.ttft_s / _MS, 1), round(self.tpot_s / _MS, 2)


def read(path: Path | None = None) -> tuple[Points, Counter[str]]:
    """The points that can be predicted, and how many rows each rule of silicon.toml has set aside.

    Raises:
        MissingExtraError: the extra [data] is not installed.
        FileFormatError: a column is missing, or a value is not what it should be.
    """
    path = path or folder().parent / FILE
    rows = list(_rows(path))
    broken = rules_of(rows)
    kept = [row for row, rule in zip(rows, broken, strict=True) if not rule]
    return _points(kept), Counter(rule for rule in broken if rule)


def reasons() -> Mapping[str, str]:
    """Why each rule sets rows aside."""
    found: Mapping[str, str] = _rules()["rules"]
    return found


def _rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if missing := sorted({*_KEY, *_OTHERS} - set(reader.fieldnames or ())):
            raise FileFormatError(f"{path.name}: column {missing[0]} is missing")
        for number, stored in enumerate(reader, start=2):
            try:
                yield _row(stored)
            except (ValueError, TypeError) as wrong:
                raise FileFormatError(f"{path.name}, line {number}: {wrong}") from None


def _row(stored: Mapping[str, str]) -> Row:
    return Row(
        stored=stored,
        layout=mended(Layout(*(_ranks(stored[name]) for name in ("tp_size", "attention_dp_size", "moe_tp_size",
                                                                 "moe_ep_size")))),
        ttft_s=float(stored["silicon_ttft_ms"]) * _MS,
        tpot_s=float(stored["silicon_tpot_ms"]) * _MS,
        is_test=is_test(stored),
    )  # fmt: skip


def _ranks(text: str) -> int:
    """A number of ranks; an empty cell and 0 are 1."""
    return int(text or 1) or 1


def is_test(stored: Mapping[str, str]) -> bool:
    """The half of a row: by its columns as they are stored, so that a configuration stands in one half alone."""
    return crc32("|".join(stored[name] for name in _KEY).encode()) % 2 == 0


def mended(layout: Layout) -> Layout:
    """The layout that was run: where experts are on more ranks than there are, those of attention are written wrong."""
    for repair in _rules()["repairs"]:
        if tuple(repair["stored"]) == layout:
            layout = Layout(*repair["mended"])
    experts = layout.moe_tp * layout.ep
    return layout if experts <= layout.tp * layout.dp else layout._replace(tp=max(1, experts // layout.dp))


def rules_of(rows: list[Row]) -> list[str]:
    """The rule by which each row is set aside, empty where none does."""
    served = [row for row in rows if row.stored["mode"] == "agg"]
    tested = {row.times for row in served if row.is_test}
    seen: set[tuple[str, float, float]] = set()
    return [_rule(row, tested, seen) for row in rows]


def _rule(row: Row, tested: set[Any], seen: set[Any]) -> str:
    """The first rule that holds of a row; `seen` gains its times."""
    if row.stored["mode"] != "agg":
        return "disaggregated" if row.stored.get("decode_batch_size") else "disaggregated_bare"
    if not row.is_test and row.times in tested:
        return "leaked"
    if row.times in seen:
        return "repeated"
    seen.add(row.times)
    return next((name for name, holds in _structural().items() if holds(row)), "") or _listed(row)


def _structural() -> Mapping[str, Callable[[Row], bool]]:
    rules = _rules()
    return {
        "rack": lambda row: (
            row.stored["system"] in rules["racks"]["systems"] or row.layout.tp * row.layout.dp > rules["most"]["gpus"]
        ),
        "attention_dp": lambda row: row.layout.dp > 1,
    }


def _listed(row: Row) -> str:
    numbers = {"concurrency": row.concurrency, "tpot_ms": row.tpot_s / _MS}
    for one in _rules()["listed"]:
        alike = all(row.stored[name] == one[name] for name in ("model_path", "system", "backend"))
        if alike and all(one[name][0] <= value <= one[name][1] for name, value in numbers.items() if name in one):
            return str(one["rule"])
    return ""


def _points(rows: list[Row]) -> Points:
    formats = [_format(row.stored) for row in rows]
    own = _columns(rows, {"name": "id", "gpu": "system", "engine": "backend", "version": "backend_version"})
    return Points(
        **own,
        **{name: _texts(one[name] for one in formats) for name in ("model", "family", "dtype")},
        source=_texts(_source(row.stored["silicon_data_source"]) for row in rows),
        **{name: np.array([getattr(row.layout, name) for row in rows], dtype=np.int64) for name in ("tp", "dp", "ep")},
        pp=np.array([_ranks(row.stored["pp_size"]) for row in rows], dtype=np.int64),
        **{name: np.array([int(row.stored[name]) for row in rows], dtype=np.int64) for name in ("isl", "osl")},
        concurrency=np.array([row.concurrency for row in rows], dtype=np.int64),
        ttft_s=np.array([row.ttft_s for row in rows]),
        tpot_s=np.array([row.tpot_s for row in rows]),
        is_test=np.array([row.is_test for row in rows], dtype=bool),
    )


def _columns(rows: list[Row], names: Mapping[str, str]) -> dict[str, np.ndarray]:
    return {name: _texts(row.stored[column] for row in rows) for name, column in names.items()}


def _texts(values: Any) -> np.ndarray:
    return np.array(list(values), dtype=object)


def _format(stored: Mapping[str, str]) -> dict[str, str]:
    """The model of the catalog that a row ran, its kin, and in which format.

    Raises:
        FileFormatError: silicon.toml does not have it.
    """
    models = _rules()["models"]
    known = models.get(stored["model_path"])
    if known is None or stored["precision"] not in known["formats"]:
        raise FileFormatError(
            f"{FILE}: {stored['id']} runs {stored['model_path']} in {stored['precision'] or 'no named format'}, "
            "which silicon.toml does not have"
        )
    dtype = known.get("on", {}).get(stored["system"], "")
    return {"dtype": dtype, **known["formats"][stored["precision"]], "family": known["family"]}


def _source(text: str) -> str:
    sources: Mapping[str, str] = _rules()["sources"]
    return next((name for start, name in sources.items() if text.startswith(start)), "other")


@cache
def _rules() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
