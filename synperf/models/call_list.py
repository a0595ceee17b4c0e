"""What every part of a pass needs to write its calls: the model as planned, the tokens, and the formats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..collectives import Collective
from ..hardware import DType
from ..kernels.base import Call
from ..kernels.dispatch import has_kernel
from ..kernels.gemm_call import Gemm
from ..kernels.memory_call import MemoryCall
from ..numeric import Number
from .batch import Batch
from .description import Layer, Model
from .formats import cache_dtype
from .plan import Plan


@dataclass(frozen=True, slots=True)
class Entry:
    """A call of a pass, `count` times; `part` says what it is there for."""

    part: str
    call: Call
    count: int


class Named(NamedTuple):
    """One call of one layer, before it is counted."""

    part: str
    call: Call


Calls = Iterator[Named]


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass of a batch through a model as a plan stores it."""

    model: Model
    plan: Plan
    batch: Batch

    @property
    def tokens(self) -> Number:
        """New tokens of the batch, on one rank."""
        return self.batch.tokens

    @property
    def dtype(self) -> DType:
        """The format of hidden states, and of what is not quantised."""
        return self.model.dtype

    @property
    def cached(self) -> DType:
        """The format of the cache."""
        return cache_dtype(self.model)

    @property
    def narrow_cache(self) -> DType | None:
        """The format of the cache where values are quantised to it."""
        return None if self.cached is self.dtype else self.cached

    def call(self, part: str, kind: Any, **fields: Any) -> Named:
        """A call with the plan's engine, and the format of hidden states where none is given.

        A small kernel that an engine has none of its own for is that of the default engine.
        """
        engine, dtype = self.plan.engine, fields.get("dtype", self.dtype)
        if engine is not None and issubclass(kind, MemoryCall) and not has_kernel(kind.FAMILY, engine, dtype):
            engine = None
        return Named(part, kind(**{"dtype": dtype, "engine": engine, **fields}))

    def gemm(self, part: str, layer: Layer, name: str, n: Number, k: Number, m: Number = None) -> Named:
        """A product with the weight of that name, in the format that it is stored in; of all tokens, or of `m`."""
        scheme = layer.scheme(f"{name}.weight")
        dtype = self.dtype if scheme is None else scheme.dtype
        return self.call(part, Gemm, m=self.tokens if m is None else m, n=n, k=k, dtype=dtype)

    def collective(self, part: str, operation: str, values: Number, ranks: int, **fields: Any) -> Named:
        """A message of so many values of hidden states, over the plan's link and network."""
        size, link, network = values * int(self.dtype.bytes), self.plan.link, self.plan.network
        return self.call(
            part, Collective, operation=operation, bytes=size, ranks=ranks, link=link, network=network, **fields
        )
