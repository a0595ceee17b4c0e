"""What every kernel family has: a call with typed fields, and functions from the call to task groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache, wraps
from operator import attrgetter
from typing import Any, Protocol, TypeVar

import numpy as np

from ..errors import FieldError, UnknownNameError
from ..hardware import GPU, DType
from ..numeric import Number
from ..scheduling import Occupancy, TaskGroups
from .one_by_one import Experts, Tiles

_T = TypeVar("_T")


class Call:
    """One kernel invocation, or columns of many: the base of every family's class of calls."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How one call is launched: what `explain` shows beyond the work of its tasks.

    `tiles` counts output tiles, `grid` the CTAs along x, y and z; persistent CTAs walk over several tiles.
    `choice` holds the parameters that the decomposition chose, and `choice_source` says how. `facts` are what the
    family tells of the call besides, by name: how rows fall on experts, how work is split.
    """

    tiles: int
    grid: tuple[int, int, int]
    persistent: bool
    threads: int
    registers: int
    shared_bytes: int
    occupancy: Occupancy
    choice: dict[str, int]
    choice_source: str
    facts: Mapping[str, float] = field(default_factory=dict)


def _no_inputs(call: Any, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:  # noqa: ARG001
    return {}


def _not_listed(call: Any, gpu: GPU) -> None:  # noqa: ARG001
    return None


def _one_variant(call: Any) -> str:  # noqa: ARG001
    return ""


def _every_size(call: Any) -> tuple[str, ...]:  # noqa: ARG001
    return ()


def _nowhere(call: Any) -> Mapping[str, int]:  # noqa: ARG001
    """Rows vary in every field."""
    return {}


def _no_kernel(engine: str | None, labels: Mapping[str, Any]) -> str | None:  # noqa: ARG001
    """Kernels are by format and GPU alone."""
    return None


def _own_format(call: Any) -> DType:
    dtype: DType = call.dtype
    return dtype


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFamily:
    """One kind of kernel: its name, the class of its calls and the functions that take them apart."""

    name: str
    call_type: type[Any]  # of Call, a dataclass
    decompose: Callable[[Any, GPU], TaskGroups]
    flop: Callable[[Any], Number]  # useful FLOP, without padding
    compulsory_bytes: Callable[[Any], Number]  # every operand read once, the result written once
    launch: Callable[[Any, GPU], Launch]  # of one call
    assumptions: Callable[[Any, GPU], tuple[str, ...]]  # sentences for the answer
    dram_bytes: Callable[[Any, GPU], Number]  # with what L2 cannot keep and later waves read again
    example: Any
    summary: str
    inputs: Callable[[Any, GPU, Number, float], dict[str, Number]] = _no_inputs  # of a network; see estimators/inputs
    listed: Callable[[Any, GPU], Tiles | Experts | None] = _not_listed  # of one call, where its tasks are unequal
    stepped: tuple[str, ...] = ()  # inputs in which times have steps: a network sees how far each has come
    marks: tuple[str, ...] = ()  # inputs that tell kinds of calls apart, which say little of each other
    sizes: Callable[[Any], tuple[str, ...]] = _every_size  # inputs that networks of such calls do not see
    of_gpus: Callable[[Any], tuple[str, ...]] = _every_size  # nor one that knows no GPU: they tell GPUs apart
    chosen: tuple[str, ...] = ()  # fields that a library chooses where they are not given
    always_one: tuple[str, ...] = ()  # number fields that every measured call has at 1
    shipped_at: Callable[[Any], Mapping[str, int]] = _nowhere  # number fields with one value in all rows of its weights
    others: tuple[Any, ...] = ()  # examples of the variants whose networks see other inputs than that of `example`
    shape: tuple[str, ...] = ()  # number fields that make a shape: what a split holds out whole
    by_one: tuple[tuple[str, str], ...] = ()  # truths of a call that, where not given, say whether a number of it is 1
    variant: Callable[[Any], Any] = _one_variant  # text, or a column of texts: calls that have a network of their own
    math: Callable[[Any], DType] = _own_format  # the format at whose rate its FLOP are computed
    least_flop: Callable[[Any], Number] | None = (
        None  # of the best algorithm that is known, where `flop` are not the least
    )
    l2_saves: float = 1.0  # compulsory bytes for each that L2 holds: 2 where one is changed in place, read and written
    launches_like: str = ""  # the family whose launch floors stand in where there is none of its own
    default_kernel: Callable[[str | None, Mapping[str, Any]], str | None] = _no_kernel  # of an engine, by labels
    is_memory_bound: bool = False  # the roof is the slowest of all pipes, memory included; no tile is padded
    digest: str = ""  # of the file of a family of the user's own, whose weights and calibrations are of that file

    @property
    def is_own(self) -> bool:
        """Whether it is a file of the user's own: synperf comes with neither weights nor measured rows of it."""
        return bool(self.digest)

    def bound_flop(self, call: Any) -> Number:
        """FLOP that no kernel does without: what the physical floor counts."""
        return self.flop(call) if self.least_flop is None else self.least_flop(call)

    def required(self) -> tuple[str, ...]:
        """Names of the fields that have no default."""
        return tuple(f.name for f in fields(self.call_type) if f.default is MISSING)

    def field_names(self) -> tuple[str, ...]:
        """Names of all fields, in their order."""
        return tuple(f.name for f in fields(self.call_type))

    def make(self, values: Mapping[str, Any]) -> Call:
        """The call of these fields."""
        call: Call = self.call_type(**values)
        return call


class Kind(Protocol):
    """What tables and the command line know of a kind of calls: of kernels, or of collectives."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def by_one(self) -> tuple[tuple[str, str], ...]:
        """(truth, number field): what a call holds one value of, by default whether the number is 1."""

    @property
    def call_type(self) -> type[Any]:
        """The class of its calls, a dataclass."""

    def required(self) -> tuple[str, ...]:
        """Names of the fields that have no default."""

    def field_names(self) -> tuple[str, ...]:
        """Names of all fields, in their order."""

    def make(self, values: Mapping[str, Any]) -> Call:
        """The call of these fields."""


def call_from(family: Kind, values: Mapping[str, Any]) -> Call:
    """The call that `values` (text, numbers or arrays by field name) describe; empty values take the default.

    Raises:
        FieldError: a field is unknown, missing, or not what the family takes.
    """
    known = family.field_names()
    given = {
        name: value
        for name, value in values.items()
        if value is not None and not (isinstance(value, str) and not value.strip())
    }
    for name in given:
        if name not in known:
            raise FieldError(f"{family.name}: {UnknownNameError.among('field', name, known)}")
    missing = [name for name in family.required() if name not in given]
    if missing:
        raise FieldError(f"{family.name}: missing {', '.join(missing)}")
    return family.make(given)


def num_calls(call: Any) -> int | None:
    """Rows of a call that holds columns; None for a single call."""
    values = values_of(call, _names(call.__class__))
    if _ARRAYS.isdisjoint(map(type, values)):  # every prediction asks, mostly of a single call
        return None
    return next(len(value) for value in values if type(value) is np.ndarray)


def held(function: Callable[[Any], _T]) -> Callable[[Any], _T]:
    """The function of a call, which keeps its last answer for a single one: parts of an estimate ask for the same.

    Columns of many are not kept, since they are large.
    """
    last: list[tuple[Any, Any]] = [(None, None)]

    @wraps(function)
    def of(call: Any) -> _T:
        known, value = last[0]
        if known is not call:
            value = function(call)
            if num_calls(call) is None:
                last[0] = (call, value)
        found: _T = value
        return found

    return of


_ARRAYS = frozenset((np.ndarray,))


def values_of(call: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """The named fields of a call, read in one go."""
    return _reader(names)(call)


@lru_cache(maxsize=256)
def _reader(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda call: tuple(getattr(call, name) for name in names)


@lru_cache(maxsize=256)
def _names(kind: Any) -> tuple[str, ...]:
    """Names of all fields of a class of calls, inherited ones too."""
    return tuple(f.name for f in fields(kind))


def take(call: Any, rows: slice | np.ndarray) -> Any:
    """Some rows of a call that holds columns, without checking them again."""
    part = object.__new__(type(call))
    for name in call.__dataclass_fields__:
        value = getattr(call, name)
        object.__setattr__(part, name, value[rows] if type(value) is np.ndarray else value)
    return part


def of_engine(call: Any, engine: str) -> Any:
    """The call under an engine, without checking it again."""
    named = object.__new__(type(call))
    for name in call.__dataclass_fields__:
        object.__setattr__(named, name, engine if name == "engine" else getattr(call, name))
    return named


def widened(call: Any, size: int, names: tuple[str, ...]) -> Any:
    """The call with the named fields as float64 columns of `size` calls, without checking them again."""
    wide = object.__new__(type(call))
    for name in call.__dataclass_fields__:
        value = getattr(call, name)
        wanted = name in names and type(value) is not np.ndarray
        object.__setattr__(wide, name, np.full(size, value, dtype=np.float64) if wanted else value)
    return wide
