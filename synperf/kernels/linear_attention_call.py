"""The call of the linear attention family: its fields, what they default to, and what they refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import FieldError
from ..hardware import DType
from ..numeric import Number
from .base import Call
from .fields import refuse, same_length, set_dtype, set_names, set_numbers
from .linear_attention_traits import convolves, decode_kernel, phase_of, prefill_kernels, variants_of

VARIANTS = ("mamba2", "gdn", "kda")
PHASES = ("prefill", "decode")
_FORMATS = (DType.FP16, DType.BF16)
_CHUNKS = {"mamba2": 256, "gdn": 64, "kda": 64}  # tokens of a chunk: state-spaces/mamba and flash-linear-attention
_SIZES = ("batch", "seq_len", "heads", "head_dim", "state_dim")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearAttention(Call):
    """A state of `state_dim` x `head_dim` for each head of each request, which every token changes and reads.

    `variant` is mamba2 (state spaces; B and C of `groups`), gdn (gated delta rule; `groups` heads of queries and keys
    of `state_dim`, `heads` of values of `head_dim`) or kda (the same with a gate for each of `state_dim`). In prefill
    `seq_len` tokens of each request are gone through in chunks of `chunk`; in decode it is 1. Kernels that begin with
    `causal_conv1d` are the short convolution of `taps` before the scan.

    Raises:
        FieldError: a field is out of range, or does not go with another.
    """

    variant: str
    batch: Any
    seq_len: Any
    heads: Any
    head_dim: Any
    state_dim: Any
    groups: Any = None
    chunk: Any = None
    phase: str = PHASES[0]
    taps: Any = 4
    dtype: DType = DType.BF16
    engine: str | None = None
    kernel: str | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name, known in (("variant", VARIANTS), ("phase", PHASES)):
            put(self, name, _one_of(name, getattr(self, name), known))
        set_numbers(self, (*_SIZES, "taps"))
        set_numbers(self, ("groups", "chunk"), optional=True)
        if self.groups is None:
            put(self, "groups", self.heads)
        if self.chunk is None:
            put(self, "chunk", _CHUNKS[self.variant])
        set_dtype(self)
        if self.dtype not in _FORMATS:
            raise FieldError(f"dtype must be one of {', '.join(_FORMATS)}, got {self.dtype}")
        set_names(self)
        if self.kernel is None:
            put(self, "kernel", default_kernel(self.engine, self.variant, self.phase))
        same_length(self, (*_SIZES, "groups", "chunk", "taps"))
        _check(self)

    @property
    def convolves(self) -> bool:
        """Whether the call is the short convolution before the scan."""
        return convolves(self.kernel)

    @property
    def tokens(self) -> Number:
        """Tokens of all requests."""
        return 1.0 * self.batch * self.seq_len

    @property
    def channels(self) -> Number:
        """Channels of the short convolution: values, and queries and keys, or B and C."""
        return 1.0 * self.heads * self.head_dim + 2.0 * self.groups * self.state_dim


def default_kernel(engine: str | None, variant: str, phase: str) -> str | None:
    """The kernel that the engine runs in a phase of the variant; None where that is by format and GPU."""
    return decode_kernel(engine) if phase == "decode" else prefill_kernels(variant).get(engine or "else")


def _one_of(name: str, value: Any, known: tuple[str, ...]) -> str:
    found = str(value).strip().lower()
    if found not in known:
        raise FieldError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    return found


def _check(p: LinearAttention) -> None:
    """Fields that must go with one another.

    Raises:
        FieldError: naming both, and the row where they are columns.
    """
    refuse(p.heads % p.groups != 0, "groups must divide heads, which are {}, got {}", p.heads, p.groups)
    if p.phase == "decode" and np.any(p.seq_len != 1):
        refuse(p.seq_len != 1, "seq_len must be 1 in decode, got {}", p.seq_len)
    own = phase_of(p.kernel)
    if own and own != p.phase:
        raise FieldError(f"kernel: {p.kernel} is one of {own}, and phase is {p.phase}")
    known = variants_of(p.kernel)
    if known and p.variant not in known:
        raise FieldError(f"kernel: {p.kernel} is one of {' and '.join(known)}, and variant is {p.variant}")
