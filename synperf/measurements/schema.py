"""The one schema of measured rows, whatever file they come from.

Text columns are object arrays whose equal values are one and the same string, so that they cost a pointer a row; so
are those of truth values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any
from zlib import crc32

import numpy as np

from ..errors import FieldError, UnknownNameError
from ..kernels import KernelFamily, family, installed
from ..kernels.fields import MOST_ELEMENTS
from ..kernels.own import LOADED
from ..numeric import concatenated

TEST_MODULUS = 5
_ROWS = (  # families of rows of dim values
    "copy", "gelu_mul", "kv_append", "layernorm", "quantize", "reduction", "rmsnorm", "rope", "sampling", "silu_mul",
    "softmax", "transpose",
)  # fmt: skip
NUMBERS: Mapping[str, tuple[str, ...]] = {  # number fields of measured calls, by family
    "gemm": ("m", "n", "k", "batch"),
    "attention": ("batch", "q_len", "kv_len", "heads", "kv_heads", "head_dim", "window"),
    "mla": ("batch", "q_len", "kv_len", "heads", "kv_lora_rank", "rope_dim"),
    "fused_moe": ("tokens", "hidden", "inter", "experts", "topk", "tp", "ep"),
    "elementwise": ("elements", "inputs", "outputs", "flop_per_element"),
    "embedding": ("rows", "dim", "vocab"),
    "conv": (
        "batch",
        "in_channels",
        "out_channels",
        "height",
        "width",
        "kernel_h",
        "kernel_w",
        "stride",
        "padding",
        "dilation",
        "groups",
    ),
    "linear_attention": ("batch", "seq_len", "heads", "head_dim", "state_dim", "groups", "chunk"),
    "sparse_attention": (
        "batch",
        "q_len",
        "kv_len",
        "heads",
        "kv_lora_rank",
        "rope_dim",
        "nope_dim",
        "v_dim",
        "q_rank",
        "hidden",
        "index_heads",
        "index_dim",
        "topk",
    ),
    **dict.fromkeys(_ROWS, ("rows", "dim")),
}
MAY_BE_ZERO = ("window", "padding")  # 0 is none
MOST = {"elements": MOST_ELEMENTS}  # of fields that may be above MAX_EXTENT
SAME_AS: Mapping[str, str] = {"kv_heads": "heads", "kv_dtype": "dtype"}  # what a field is that is not given
LABELS: Mapping[str, tuple[str, ...]] = {  # fields of which a call holds one value, whatever number of rows it has
    "gemm": ("dtype",),
    "attention": ("dtype", "kv_dtype", "causal"),
    "mla": ("dtype", "kv_dtype", "absorbed", "proj_dtype"),
    "fused_moe": ("dtype", "gated", "distribution"),
    **dict.fromkeys(("elementwise", "embedding", *_ROWS), ("dtype",)),
    **dict.fromkeys(("silu_mul", "gelu_mul", "quantize", "kv_append"), ("dtype", "quant_dtype")),
    "rmsnorm": ("dtype", "residual", "quant_dtype"),
    "layernorm": ("dtype", "residual"),
    "reduction": ("dtype", "axis"),
    "conv": ("dtype", "layout"),
    "linear_attention": ("variant", "phase", "dtype"),
    "sparse_attention": ("dtype", "kv_dtype", "indexes", "proj_dtype"),
}
LAUNCH = ("family", "engine", "kernel")  # what else a call holds one value of


def numbers_of(name: str) -> tuple[str, ...]:
    """Number fields of measured calls of a family; of one of the user's own, all that it has.

    Raises:
        UnknownNameError: there is no such family, or it has no measured rows.
    """
    if name in NUMBERS:
        return NUMBERS[name]
    kind = _own(name)
    return tuple(f.name for f in fields(kind.call_type) if f.type is Any)


def labels_of(name: str) -> tuple[str, ...]:
    """Fields of a family of which a call holds one value; of one of the user's own, all that are no numbers.

    Raises: as `numbers_of`.
    """
    if name in LABELS:
        return LABELS[name]
    others = (*numbers_of(name), *LAUNCH)
    return tuple(field for field in _own(name).field_names() if field not in others)


def _own(name: str) -> KernelFamily:
    if name in LOADED or name in installed():
        return family(name)
    raise UnknownNameError.among("measured family", name, [*NUMBERS, *LOADED, *installed()])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Measured times: columns of one length, one row for each key (everything but times, spread and samples).

    `fields` are the columns of the family's call, under its names: m, n, k, batch, dtype for gemm. Those that a call
    holds one value of (`labels`) are object columns of text, or of truth values; an empty text is a field not given.
    `time_s` is the median of the measurements of one key and `spread` their relative half-spread,
    (max - min) / 2 / median: 0 where there is one. `is_test` is the published split: rows that no fit may see.
    `biased` rows were chosen by a model's error or for being fast or slow: never to be fitted to or scored on alone.
    Rows that are made without that column are not.
    """

    gpu: np.ndarray
    family: np.ndarray
    engine: np.ndarray
    version: np.ndarray
    kernel: np.ndarray  # canonical name
    kernel_source: np.ndarray  # as the file has it
    fields: Mapping[str, np.ndarray]
    time_s: np.ndarray
    spread: np.ndarray
    samples: np.ndarray
    is_test: np.ndarray
    source: np.ndarray  # file
    biased: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def __post_init__(self) -> None:
        if not len(self.biased):
            object.__setattr__(self, "biased", np.zeros(len(self), dtype=bool))

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.time_s)

    def column(self, name: str) -> np.ndarray:
        """A column of the schema or of the family's fields, by name."""
        found: np.ndarray = self.fields[name] if name in self.fields else getattr(self, name)
        return found

    def take(self, rows: np.ndarray | slice) -> Rows:
        """Some rows: an index, a mask or a slice."""
        return Rows(
            fields={name: column[rows] for name, column in self.fields.items()},
            **{name: getattr(self, name)[rows] for name in _COLUMNS},
        )

    def labels(self) -> tuple[str, ...]:
        """Names of the columns that a call holds one value of: `rows.groups(*rows.labels())` are calls."""
        return (*LAUNCH, *(name for name, column in self.fields.items() if column.dtype == object))

    def groups(self, *names: str) -> Iterator[tuple[tuple[Any, ...], Rows]]:
        """(values, rows) for every combination of values of object columns that occurs, in sorted order."""
        for values, index in self.indices(*names):
            yield values, self.take(index)

    def indices(self, *names: str) -> Iterator[tuple[tuple[Any, ...], np.ndarray]]:
        """(values, where the rows are) for every combination of values of object columns, in sorted order."""
        codes = np.zeros(len(self), dtype=np.intp)
        values: list[tuple[Any, ...]] = [()] if len(self) else []
        for name in names:
            codes, values = _refine(codes, values, self.column(name))
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(len(values) + 1))
        for i in sorted(range(len(values)), key=values.__getitem__):
            yield values[i], order[bounds[i] : bounds[i + 1]]

    def call(self) -> Any:
        """The rows as one call that holds columns.

        Raises:
            FieldError: rows of two families, engines, kernels, formats or other labels, which no call can hold.
        """
        values = {name: _one(name, col) if col.dtype == object else col for name, col in self.fields.items()}
        given = {name: value for name, value in values.items() if not (isinstance(value, str) and not value)}
        engine, kernel = _one("engine", self.engine), _one("kernel", self.kernel)
        return family(_one("family", self.family)).call_type(engine=engine, kernel=kernel, **given)

    @classmethod
    def join(cls, parts: Sequence[Rows]) -> Rows:
        """Rows of one family, one part after the other.

        Raises:
            FieldError: there is no part.
        """
        if not parts:
            raise FieldError("rows: there are none to join")
        return cls(
            fields={name: np.concatenate([part.fields[name] for part in parts]) for name in parts[0].fields},
            **concatenated(parts),
        )


_COLUMNS = tuple(f.name for f in fields(Rows) if f.name != "fields")


def is_held_out(keys: Iterable[str], modulus: int = TEST_MODULUS, remainder: int = 0) -> np.ndarray:
    """Whether the crc32 of each key leaves that remainder: the published split, whatever a family's key is."""
    return np.array([crc32(key.encode()) % modulus == remainder for key in keys], dtype=bool)


def is_gemm_test(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Whether a GEMM row is a new-shape test row: crc32 of `{n}x{k}`, as stored, leaves no remainder by 5."""
    shapes, which = np.unique(n.astype(np.int64) * 2**32 + k.astype(np.int64), return_inverse=True)
    return is_held_out(f"{nk >> 32}x{nk & 0xFFFFFFFF}" for nk in shapes.tolist())[which]


def is_call_test(calls: Iterable[Sequence[Any]]) -> np.ndarray:
    """Whether a row of a source without a test file is a test row: crc32 of the fields of its call leaves no remainder
    by 5. The fields are in the order of the family, decimal, joined by `x`: `128x4096x4096x1xfp16`; truth values are
    `true` and `false`.
    """
    return is_held_out("x".join(map(_plain, call)) for call in calls)


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _one(name: str, column: np.ndarray) -> Any:
    first = column[0]
    if not (column == first).all():
        raise FieldError(f"{name}: a call holds one, the rows have {', '.join(map(str, sorted(set(column))))}")
    return first


def _refine(
    codes: np.ndarray, values: list[tuple[Any, ...]], column: np.ndarray
) -> tuple[np.ndarray, list[tuple[Any, ...]]]:
    """Codes that tell apart what `codes` and the column tell apart, and the values behind each code."""
    names: dict[Any, int] = {}
    own = np.fromiter((names.setdefault(value, len(names)) for value in column), dtype=np.intp, count=len(column))
    texts = list(names)
    pairs, refined = np.unique(codes * max(len(texts), 1) + own, return_inverse=True)
    split = [divmod(pair, len(texts)) for pair in pairs.tolist()]
    return refined, [(*values[code], texts[text]) for code, text in split]
