"""The call of the sparse attention family: its fields, what they default to, and what they refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import FieldError
from ..hardware import DType
from .base import Call
from .fields import refuse, same_length, set_dtype, set_names, set_numbers, truth
from .mla_call import MODULE, unquantised

NUMBERS = (
    "batch", "q_len", "kv_len", "heads", "kv_lora_rank", "rope_dim", "nope_dim", "v_dim", "q_rank", "hidden",
    "index_heads", "index_dim", "topk",
)  # fmt: skip
_MATH = (DType.FP16, DType.BF16, DType.FP8)
_PROJECTED = (DType.FP16, DType.BF16, DType.FP8, DType.FP8_BLOCK, DType.NVFP4)


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseAttention(Call):
    """The sparse attention module of DeepSeek-V3.2: numbers, or arrays of one length for many calls at once.

    `batch` requests with `q_len` queries each, the last of `kv_len` tokens, causal; `heads` are those of one rank. An
    indexer of `index_heads` x `index_dim` scores all tokens before a query, whose heads then meet the `topk` best
    latents of `kv_lora_rank` and `rope_dim`: all, where there are no more. `indexes`: false of a layer that takes the
    selection of an earlier one. Around it are projections in `proj_dtype`, from and to `hidden`, over `q_rank`, of
    heads of `nope_dim` + `rope_dim` and `v_dim`. A kernel whose name does not end in `_module` is the core alone.

    Raises:
        FieldError: a field is missing, out of range, or does not go with another.
    """

    batch: Any = 1
    q_len: Any
    kv_len: Any
    heads: Any
    kv_lora_rank: Any = 512
    rope_dim: Any = 64
    nope_dim: Any = 128
    v_dim: Any = 128
    q_rank: Any = 1536
    hidden: Any = 7168
    index_heads: Any = 64
    index_dim: Any = 128
    topk: Any = 2048
    dtype: DType = DType.BF16
    kv_dtype: DType | None = None
    proj_dtype: DType | None = None
    indexes: bool | str = True  # text is read; a call holds a truth value
    engine: str | None = None
    kernel: str | None = None

    def __post_init__(self) -> None:
        set_numbers(self, NUMBERS)
        same_length(self, NUMBERS)
        set_names(self)
        _set_formats(self)
        _set_module(self)
        refuse(self.kv_len < self.q_len, "kv_len must not be below q_len, which is {}, got {}", self.q_len, self.kv_len)

    @property
    def is_module(self) -> bool:
        """Whether indexer, projections and output are in it."""
        return self.kernel is None or self.kernel.endswith(MODULE)

    @property
    def projected(self) -> DType:
        """The format of the projections: that of the math where none is given, or bf16 beside fp8."""
        return self.proj_dtype or unquantised(self.dtype)


def _set_formats(p: SparseAttention) -> None:
    for name in ("dtype", "kv_dtype", "proj_dtype"):
        set_dtype(p, name)
    if p.kv_dtype is None:
        object.__setattr__(p, "kv_dtype", p.dtype)
    for name, allowed in (("dtype", _MATH), ("kv_dtype", _MATH), ("proj_dtype", _PROJECTED)):
        value = getattr(p, name)
        if value is not None and value not in allowed:
            raise FieldError(f"{name} must be one of {', '.join(allowed)}, got {value}")
    assert p.kv_dtype is not None
    if p.kv_dtype.bytes > p.dtype.bytes:
        raise FieldError(f"kv_dtype must not be wider than dtype, which is {p.dtype}, got {p.kv_dtype}")


def _set_module(p: SparseAttention) -> None:
    """Fields that modules alone have.

    Raises:
        FieldError: one is given of a core.
    """
    object.__setattr__(p, "indexes", truth("indexes", p.indexes))
    if not p.is_module and (p.proj_dtype is not None or not p.indexes):
        name = "indexes" if p.proj_dtype is None else "proj_dtype"
        raise FieldError(f"{name}: {p.kernel} is the core alone; right would be the name of a module's kernel")
