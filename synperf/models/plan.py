"""A model on GPUs: how many ranks share it in which way, and in which formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import FieldError, UnknownNameError
from ..hardware import DType, links
from ..kernels.dispatch import engines
from ..kernels.fields import dtype_of, name_of, whole

_RANKS = ("tp", "pp", "ep", "dp")
DISPATCHES = ("all_gather", "all_to_all")
MOST_RANKS = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`tp` ranks share every layer, `pp` stages the layers, `dp` groups of `tp` ranks the requests.

    Experts are shared by all `tp` x `dp` ranks of a stage: `ep` groups hold other experts, within which the rest of the
    ranks share each. `dtype` is that of weights and products, `kv_dtype` of the cache; where they are left out the
    checkpoint says them. With `dp` above 1 tokens go to their experts by `dispatch`: all of them to all ranks
    (all_gather), or each to its own (all_to_all). `split_vocab`: ranks share tables of words in a step too, and hand
    each other what they lack. `distribution` is how tokens fall on experts. `link` joins the GPUs of a node and
    `network` the nodes, as fields of collectives; stages stand on other nodes where one is named.

    Raises:
        FieldError: a field is not what it should be.
        UnknownNameError: no link or network has that name.
    """

    tp: int = 1
    pp: int = 1
    ep: int = 1
    dp: int = 1
    dtype: DType | None = None
    kv_dtype: DType | None = None
    engine: str | None = None
    dispatch: str = DISPATCHES[0]
    split_vocab: bool = False
    distribution: str = "balanced"
    link: str | None = None
    network: str | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in _RANKS:
            put(self, name, int(_ranks(name, getattr(self, name))))
        for name in ("dtype", "kv_dtype"):
            if getattr(self, name) is not None:
                put(self, name, dtype_of(name, getattr(self, name)))
        if self.engine is not None:
            put(self, "engine", _engine(name_of("engine", self.engine)))
        for name, named in (("link", links.within), ("network", links.network)):
            if getattr(self, name) is not None:
                put(self, name, named(name_of(name, getattr(self, name))).key)
        if self.dispatch not in DISPATCHES:
            raise FieldError(f"dispatch must be one of {', '.join(DISPATCHES)}, got {str(self.dispatch)[:60]!r}")
        if self.ranks_per_stage % self.ep:
            raise FieldError(f"ep must divide tp x dp, which is {self.ranks_per_stage}, got {self.ep}")

    @property
    def ranks_per_stage(self) -> int:
        """GPUs that share the layers of one stage."""
        return self.tp * self.dp

    @property
    def gpus(self) -> int:
        """GPUs of the whole plan."""
        return self.tp * self.dp * self.pp

    @property
    def expert_tp(self) -> int:
        """Ranks that share each expert."""
        return self.ranks_per_stage // self.ep


def _engine(name: str) -> str:
    if name not in engines():
        raise FieldError(f"engine: {UnknownNameError.among('engine', name, engines())}")
    return name


def _ranks(name: str, value: Any) -> Any:
    found = whole(name, value, MOST_RANKS)
    if not isinstance(found, int):
        raise FieldError(f"{name} must be one number, got a column")
    return found
