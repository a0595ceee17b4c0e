"""The new keys and values of every token into their slots of the cache, quantised where the cache is narrower."""

from __future__ import annotations

from dataclasses import dataclass

from ..hardware import DType
from .memory_call import RowCall, set_quant_dtype
from .memory_family import memory_family
from .memory_traits import facts
from .memory_work import INDEX_BYTES, Work, of_facts


@dataclass(frozen=True, slots=True, kw_only=True)
class KvAppend(RowCall):
    """`rows` tokens of `dim` = heads of K x their length, and as many of V. `quant_dtype` is the format of the cache,
    whose scales are fixed; it defaults to `dtype`.
    """

    quant_dtype: DType | None = None

    FAMILY = "kv_append"

    def check(self) -> None:
        """Reads the format of the cache."""
        set_quant_dtype(self)


def work(p: KvAppend) -> Work:
    """K, V and a slot in, K and V out."""
    found = of_facts(facts("kv_append"), p.rows, p.dim, p.dtype)
    found.row_in = INDEX_BYTES
    if p.quant_dtype is not None:
        found.value_out = p.quant_dtype.bytes
        found.flop = facts("quantize").flop * found.streams_in
    return found


FAMILY = memory_family(KvAppend(rows=4096, dim=1024), "new K and V of every token into their slots of the cache", work)
