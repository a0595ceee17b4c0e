"""The call of the attention family: its fields, what they default to, and what they refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import FieldError
from ..hardware import DType
from ..numeric import is_array
from .base import Call
from .fields import MAX_EXTENT, refuse, same_length, set_dtype, set_names, set_numbers, truth, whole, whole_or_none

MATH = (DType.FP32, DType.TF32, DType.FP16, DType.BF16, DType.FP8)
CACHED = (DType.FP32, DType.FP16, DType.BF16, DType.FP8, DType.INT8)
_NUMBERS = ("batch", "q_len", "kv_len", "heads", "kv_heads", "head_dim", "v_head_dim", "window", "page_size")


class Lengths(tuple[int, ...]):
    """Lengths of the requests of one call; what is worked out from them is found again by a hash that is kept."""

    _hash: int | None = None

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = super().__hash__()
        return self._hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention(Call):
    """softmax(Q K^T) V: numbers, or arrays of one length for many calls at once.

    `batch` requests, each with `q_len` queries over `kv_len` keys; or one call with a request per value of `q_lens`
    and `kv_lens`, of which either may stay one number for all. Queries are the last of their sequence: causal query i
    sees the keys up to kv_len - q_len + i. `window` keys up to itself are what a query sees of them (without a causal
    mask as many to the other side), 0 all. `kv_heads` divide the query heads into groups that share K and V; it
    defaults to `heads`, `v_head_dim` to `head_dim`, `kv_dtype` to `dtype`. `page_size` in tokens, where K and V are
    paged.

    Raises:
        FieldError: a field is missing, out of range, or does not go with another.
    """

    batch: Any = 1
    q_len: Any = None
    kv_len: Any = None
    q_lens: Lengths | None = None
    kv_lens: Lengths | None = None
    heads: Any
    kv_heads: Any = None
    head_dim: Any
    v_head_dim: Any = None
    causal: bool = True
    window: Any = 0
    dtype: DType = DType.BF16
    kv_dtype: DType | None = None
    page_size: Any = None
    engine: str | None = None
    kernel: str | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        if type(self.window) is not int or self.window != 0:
            put(self, "window", whole_or_none("window", self.window))
        set_numbers(self, ("batch", "heads", "head_dim"))
        set_numbers(self, ("q_len", "kv_len", "kv_heads", "v_head_dim", "page_size"), optional=True)
        if self.kv_heads is None:
            put(self, "kv_heads", self.heads)
        if self.v_head_dim is None:
            put(self, "v_head_dim", self.head_dim)
        put(self, "causal", truth("causal", self.causal))
        _set_formats(self)
        set_names(self)
        if self.q_lens is not None or self.kv_lens is not None:
            _set_lists(self)
        for name in ("q_len", "kv_len"):
            if getattr(self, name) is None and getattr(self, f"{name}s") is None:
                raise FieldError(f"{name}: missing; right would be one length, or a list of them as {name}s")
        same_length(self, _NUMBERS)
        _check(self)


def _set_formats(p: Attention) -> None:
    put = object.__setattr__
    set_dtype(p)
    set_dtype(p, "kv_dtype")
    if p.dtype not in MATH:
        raise FieldError(f"dtype must be one of {', '.join(MATH)}, got {p.dtype}")
    if p.kv_dtype is None:
        put(p, "kv_dtype", DType.FP32 if p.dtype is DType.TF32 else p.dtype)
    assert p.kv_dtype is not None
    if p.kv_dtype not in CACHED:
        raise FieldError(f"kv_dtype must be one of {', '.join(CACHED)}, got {p.kv_dtype}")
    if p.kv_dtype.bytes > p.dtype.bytes:
        raise FieldError(f"kv_dtype must not be wider than dtype, which is {p.dtype}, got {p.kv_dtype}")


def _set_lists(p: Attention) -> None:
    put = object.__setattr__
    for name in ("q_lens", "kv_lens"):
        given = getattr(p, name)
        if given is None:
            continue
        if getattr(p, name[:-1]) is not None:
            raise FieldError(f"{name}: {name[:-1]} is given too; right would be one of them")
        put(p, name, _lengths(name, given))
    for name in ("q_len", "kv_len"):
        if is_array(getattr(p, name)):
            raise FieldError(f"{name} must be one number beside a list of the other lengths, got a column")
    if p.q_lens is not None and p.kv_lens is not None and len(p.q_lens) != len(p.kv_lens):
        raise FieldError(f"kv_lens has {len(p.kv_lens)} values, but q_lens has {len(p.q_lens)}")
    requests = len(p.q_lens if p.q_lens is not None else p.kv_lens or ())
    if np.any(p.batch != 1) and np.any(p.batch != requests):
        shown = p.batch if not is_array(p.batch) else "a column"
        raise FieldError(f"batch must be left out or be {requests}, the number of lengths, got {shown}")
    put(p, "batch", requests)


def _lengths(name: str, given: Any) -> Lengths:
    """Lengths from a list, an array, or text such as `512,1,1` or `[512, 1, 1]`."""
    if type(given) is Lengths:
        return given
    if isinstance(given, list) and set(map(type, given)) == {int} and min(given) > 0 and max(given) <= MAX_EXTENT:
        return Lengths(given)
    if isinstance(given, str):
        given = given.strip().removeprefix("[").removesuffix("]").replace(";", ",").split(",")
    found = whole(name, list(given) if isinstance(given, tuple) else given)
    if not is_array(found):
        raise FieldError(f"{name} must be a list of lengths, got {given!r}; one length for all is {name[:-1]}")
    if not len(found):
        raise FieldError(f"{name} must have a length per request, got an empty list")
    return Lengths(map(int, found.tolist()))


def _check(p: Attention) -> None:
    """Fields that must go with one another.

    Raises:
        FieldError: naming both, and the row where they are columns.
    """
    uneven = p.heads % p.kv_heads != 0
    refuse(uneven, "kv_heads must divide heads, which are {}, got {}", p.heads, p.kv_heads)
    if p.q_lens is not None or p.kv_lens is not None:
        q, kv = np.asarray(p.q_lens or p.q_len), np.asarray(p.kv_lens or p.kv_len)
        many = ("q_lens" if p.q_lens else "q_len", "kv_lens" if p.kv_lens else "kv_len")
    else:
        q, kv, many = p.q_len, p.kv_len, ("q_len", "kv_len")
    if p.causal or np.any(p.window != 0):
        why = "under a causal mask" if p.causal else "with a window"
        refuse(kv < q, f"{many[1]} must not be below {many[0]} {why}, which is {{}}, got {{}}", q, kv)
