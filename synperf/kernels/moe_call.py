"""The call of the MoE family: its fields, what they default to, and what they refuse."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import FieldError
from ..hardware import DType
from .base import Call
from .dispatch import formats_of
from .fields import refuse, same_length, set_dtype, set_names, set_numbers, truth, whole

BALANCED = "balanced"
NUMBERS = ("tokens", "hidden", "inter", "experts", "topk", "tp", "ep")
MOST_ALPHA = 10.0  # beyond it every expert but one has the least load
MOST_EXPERTS = 65_536  # loads are simulated expert by expert
_POWER_LAW = re.compile(r"power_law_(\d+(?:\.\d+)?)")
_NOT_GATED, _NOT_GATED_ENGINE = "cutlass_moe_nongated", "trtllm"  # a kernel of its own for experts without a gate


@dataclass(frozen=True, slots=True, kw_only=True)
class FusedMoe(Call):
    """The expert layer of one rank: numbers, or arrays of one length for many calls at once.

    `tokens` is the count of all ranks before dispatch, each token goes to `topk` of the `experts`. `inter` is that of
    the whole model, of which `tp` ranks share the columns; `ep` ranks share the experts, and the busiest one is meant.
    `gated` experts have an up and a gate matrix. Loads follow `distribution`, or are given for each expert.

    Raises:
        FieldError: a field is out of range, a shard is uneven, or loads do not add up.
    """

    tokens: Any
    hidden: Any
    inter: Any
    experts: Any
    topk: Any
    tp: Any = 1
    ep: Any = 1
    dtype: DType = DType.BF16
    gated: bool = True
    distribution: str = BALANCED
    tokens_per_expert: tuple[int, ...] | None = None
    engine: str | None = None
    kernel: str | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        set_numbers(self, NUMBERS)
        set_dtype(self)
        set_names(self)
        put(self, "gated", truth("gated", self.gated))
        put(self, "distribution", _distribution(self.distribution))
        same_length(self, NUMBERS)
        _check_shards(self)
        if self.tokens_per_expert is not None:
            put(self, "tokens_per_expert", counts_of("tokens_per_expert", self.tokens_per_expert))
            _check_loads(self)
        if not self.gated and self.kernel is None and self.engine == _NOT_GATED_ENGINE:
            put(self, "kernel", _NOT_GATED if self.dtype in formats_of("fused_moe", _NOT_GATED) else None)
        if self.gated and self.kernel == _NOT_GATED:
            raise FieldError(f"gated: {_NOT_GATED} has no gate matrix; right would be gated=false")


def alpha_of(distribution: str) -> float | None:
    """The exponent of a power law, None of `balanced`."""
    return None if distribution == BALANCED else float(distribution.removeprefix("power_law_"))


def counts_of(name: str, value: Any) -> tuple[int, ...]:
    """Rows of each group, from a list, an array or text such as `4,0,7`.

    Raises:
        FieldError: not such a list, an entry is no whole number from 0, or all are 0.
    """
    items = value.split(",") if isinstance(value, str) else value
    if isinstance(items, np.ndarray):
        items = items.tolist()
    if not isinstance(items, list | tuple) or not items:
        raise FieldError(f"{name} must be a list of whole numbers such as 4,0,7, got {str(value)[:60]!r}")
    found = tuple(0 if _is_zero(item) else _count(f"{name}[{i}]", item) for i, item in enumerate(items))
    if len(found) > MOST_EXPERTS:
        raise FieldError(f"{name} has {len(found)} entries, more than {MOST_EXPERTS}")
    if not any(found):
        raise FieldError(f"{name} must have a row in some group, got only zeros")
    return found


def _count(name: str, item: Any) -> int:
    """A whole number from 1, of which there may be none: 0 is read before.

    Raises:
        FieldError: it is none.
    """
    try:
        return int(whole(name, item))
    except FieldError as wrong:
        raise FieldError(str(wrong).replace("from 1 to", "from 0 to")) from None


def _is_zero(item: Any) -> bool:
    return (
        item.strip() == "0"
        if isinstance(item, str)
        else not isinstance(item, bool) and np.ndim(item) == 0 and item == 0
    )


def _distribution(value: Any) -> str:
    text = value.strip().lower() if isinstance(value, str) else ""
    if text == BALANCED:
        return text
    found = _POWER_LAW.fullmatch(text)
    if found is None or not 0 < float(found[1]) <= MOST_ALPHA:
        right = f"{BALANCED} or power_law_A with A above 0 and up to {MOST_ALPHA:g}, such as power_law_1.2"
        raise FieldError(f"distribution must be {right}, got {str(value)[:60]!r}")
    return f"power_law_{float(found[1]):g}"


def _check_shards(p: FusedMoe) -> None:
    refuse(p.topk > p.experts, "topk must not be above experts, got {} of {}", p.topk, p.experts)
    refuse(p.experts % p.ep != 0, "ep must divide experts, got {} for {}", p.ep, p.experts)
    refuse(p.inter % p.tp != 0, "tp must divide inter, got {} for {}", p.tp, p.inter)
    refuse(p.experts > MOST_EXPERTS, "experts must be up to {}, got {}", MOST_EXPERTS, p.experts)


def _check_loads(p: FusedMoe) -> None:
    counts = p.tokens_per_expert
    assert counts is not None
    if p.distribution != BALANCED:
        raise FieldError(f"tokens_per_expert and distribution={p.distribution} exclude each other")
    size, most, rows = len(counts), max(counts), sum(counts)
    refuse(p.experts != size, "tokens_per_expert has {} values, right would be {}, one per expert", size, p.experts)
    refuse(p.tokens < most, "tokens_per_expert must not be above tokens, got {} of {}", most, p.tokens)
    right = 1.0 * p.tokens * p.topk
    refuse(right != rows, "tokens_per_expert adds up to {}, right would be tokens x topk = {:.0f}", rows, right)
