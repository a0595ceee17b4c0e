"""The call of the MLA family: its fields, what they default to, and what they refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import FieldError
from ..hardware import DType
from .attention_call import CACHED, MATH
from .base import Call
from .fields import refuse, same_length, set_dtype, set_names, set_numbers, truth

NUMBERS = ("batch", "q_len", "kv_len", "heads", "kv_lora_rank", "rope_dim")
MODULE = "_module"  # how names of kernels end that stand for a module, with projections and output
_PROJECTED = (DType.FP32, DType.TF32, DType.FP16, DType.BF16, DType.FP8, DType.FP8_BLOCK, DType.NVFP4)
_WIDE = (DType.FP32, DType.TF32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mla(Call):
    """Multi-head latent attention of DeepSeek-V2 and -V3: numbers, or arrays of one length for many calls at once.

    `batch` requests with `q_len` queries each, the last of `kv_len` tokens, causal; `heads` are those of one rank. The
    cache holds a latent of `kv_lora_rank` and a rotated key of `rope_dim` per token, which all heads share. `absorbed`:
    the heads meet the latents themselves, as in decode, which is the default where `q_len` is 1; else keys and values
    of every head are there, as in prefill. `proj_dtype` is the format of the projections, of modules alone: giving it
    means the engine's module, and so does a kernel whose name ends in `_module`.

    Raises:
        FieldError: a field is missing, out of range, or does not go with another.
    """

    batch: Any = 1
    q_len: Any
    kv_len: Any
    heads: Any
    kv_lora_rank: Any = 512
    rope_dim: Any = 64
    dtype: DType = DType.BF16
    kv_dtype: DType | None = None
    absorbed: bool | str | None = None  # text is read; a call holds a truth value
    proj_dtype: DType | None = None
    engine: str | None = None
    kernel: str | None = None

    def __post_init__(self) -> None:
        set_numbers(self, NUMBERS)
        same_length(self, NUMBERS)
        set_names(self)
        object.__setattr__(self, "absorbed", _absorbed(self))
        _set_formats(self)
        _set_module(self)
        _check_lengths(self)

    @property
    def is_module(self) -> bool:
        """Whether projections and output are in it."""
        return self.kernel is not None and self.kernel.endswith(MODULE)


def _absorbed(p: Mla) -> bool:
    if p.absorbed is None:
        single = p.q_len == 1
        if np.any(single) and not np.all(single):
            raise FieldError("absorbed: missing, and q_len is 1 in some of the calls; right would be true or false")
        return bool(np.all(single))
    return truth("absorbed", p.absorbed)


def _set_formats(p: Mla) -> None:
    put = object.__setattr__
    for name in ("dtype", "kv_dtype", "proj_dtype"):
        set_dtype(p, name)
    if p.kv_dtype is None:
        put(p, "kv_dtype", DType.FP32 if p.dtype is DType.TF32 else p.dtype)
    for name, allowed in (("dtype", MATH), ("kv_dtype", CACHED), ("proj_dtype", _PROJECTED)):
        value = getattr(p, name)
        if value is not None and value not in allowed:
            raise FieldError(f"{name} must be one of {', '.join(allowed)}, got {value}")
    assert p.kv_dtype is not None
    if p.kv_dtype.bytes > p.dtype.bytes:
        raise FieldError(f"kv_dtype must not be wider than dtype, which is {p.dtype}, got {p.kv_dtype}")
    if p.proj_dtype is not None and p.proj_dtype is not p.dtype and (p.dtype in _WIDE or p.proj_dtype in _WIDE):
        raise FieldError(f"proj_dtype must be {p.dtype} like dtype, or both have 16 bits or fewer, got {p.proj_dtype}")


def _set_module(p: Mla) -> None:
    put = object.__setattr__
    if p.kernel is None and p.proj_dtype is not None:
        put(p, "kernel", _module_of(p))
    if p.is_module and p.proj_dtype is None:
        put(p, "proj_dtype", unquantised(p.dtype))
    if p.proj_dtype is not None and not p.is_module:
        raise FieldError(f"proj_dtype: {p.kernel} is attention alone; right would be the name of a module's kernel")


def _module_of(p: Mla) -> str:
    """The kernel by whose name the engine's module goes.

    Raises:
        FieldError: none is known of that engine.
    """
    if p.engine in ("plain", "trtllm"):
        return p.engine + MODULE
    if p.engine not in (None, "vllm"):
        raise FieldError(f"proj_dtype: no module of {p.engine} is known; right would be engine vllm, trtllm or plain")
    if p.absorbed:
        return "flashinfer" + MODULE
    return ("trtllm_ragged" if p.dtype is DType.FP8 else "flash_attn") + MODULE


def unquantised(dtype: DType) -> DType:
    """The format of what is not quantised beside math in `dtype`."""
    return DType.BF16 if dtype is DType.FP8 else dtype


def _check_lengths(p: Mla) -> None:
    refuse(p.kv_len < p.q_len, "kv_len must not be below q_len, which is {}, got {}", p.q_len, p.kv_len)
