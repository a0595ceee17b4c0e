"""What the columns of a table mean: fields of a family, `family` and `gpu`, results, or the user's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from ..collectives.family import collective
from ..errors import FieldError
from ..kernels import families, family
from ..kernels.base import Kind

NUMBERS = ("time_s", "low_s", "high_s", "floor_s", "efficiency")
TEXTS = ("limiter", "origin")
LISTS = ("outside", "assumptions", "versions")  # joined by `;` where a cell holds text only
RESULTS = ("gpu", "engine", "kernel", *NUMBERS, *TEXTS, "extrapolating", *LISTS)
FILLED = ("family", "gpu", "engine", "kernel")  # columns that the input may have too: only empty cells are filled in

SYNONYMS = {  # names that others give to a field: a column of that name means it, and would be overlooked
    "m": ("tokens", "num_tokens", "n_tokens", "rows", "num_rows"),
    "n": ("cols", "columns", "num_cols", "out_features"),
    "k": ("in_features", "inner_dim"),
    "batch": ("batch_size", "num_batches", "num_batch", "n_batch", "batch_count", "b", "bs"),
    "dtype": (
        "gemm_dtype", "precision", "data_type", "torch_dtype", "compute_dtype", "input_dtype", "in_dtype",
        "quant_dtype", "quant_mode", "quantization",
    ),
    "out_dtype": ("output_dtype", "output_type", "c_dtype", "result_dtype"),
    "engine": ("backend", "framework"),
    "tile_m": ("block_m", "block_size_m"),
    "tile_n": ("block_n", "block_size_n"),
    "tile_k": ("block_k", "block_size_k"),
    "split_k": ("k_splits", "num_splits"),
    "gpu": ("gpu_name", "gpu_type", "gpu_model", "device", "device_name", "accelerator"),
}  # fmt: skip


def kind_of(name: str) -> Kind:
    """The collective or kernel family of that name.

    Raises:
        UnknownNameError: there is none.
        PluginError: it is an installed one, whose file is not what it should be.
    """
    return collective(name) or family(name)


def number_fields(kind: Kind) -> tuple[str, ...]:
    """Fields that take an array for many calls: those annotated `Any`. The others tell groups of rows apart."""
    return tuple(f.name for f in fields(kind.call_type) if f.type in (Any, "Any"))


def check_results(names: Iterable[str]) -> None:
    """Checks that no column would be overwritten.

    Raises:
        FieldError: a column has the name of a result.
    """
    for name in names:
        if name in RESULTS and name not in FILLED:
            raise FieldError(f"column {name} is one of the results; rename it in the input")


def check_spelling(names: Iterable[str], kind: Kind) -> None:
    """Checks that no column looks like a misspelled field of the family; all other columns are the user's own.

    Raises:
        FieldError: the message has the column and the field that it resembles, or means while that is no column.
    """
    names = list(names)
    meant = synonyms(names, kind)
    for name, field in meant.items():
        if field not in names and not ("family" in names and _is_field(name)):  # of rows of another family
            raise overlooked(name, field)
    known = {_bare(name): name for name in (*kind.field_names(), "family", "gpu")}
    for name in [name for name in names if name not in meant]:
        near = get_close_matches(_bare(name), known, n=1, cutoff=0.8)
        if near and known[near[0]] != name and not _is_field(name):
            raise overlooked(name, known[near[0]])


def synonyms(names: Iterable[str], kind: Kind) -> dict[str, str]:
    """Columns that have another name of a field of the family, or of `gpu`, with that field."""
    fields_of = {_bare(word): field for field, words in SYNONYMS.items() for word in words}
    known = (*kind.field_names(), "gpu")
    found = {name: fields_of.get(_bare(name)) for name in names if name not in known}
    return {name: field for name, field in found.items() if field is not None and field in known}


def overlooked(name: str, field: str) -> FieldError:
    """The refusal of a column that seems to mean a field."""
    return FieldError(f"column {name!r} looks like the field {field}; rename it to that or to something else")


def _bare(name: str) -> str:
    """A name without case and separators."""
    return "".join(c for c in name.lower() if c.isalnum())


def _is_field(name: str) -> bool:
    """Whether some family has a field of that name."""
    return any(name in kind.field_names() for kind in families().values())
