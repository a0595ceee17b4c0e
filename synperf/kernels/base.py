"""What every kernel family has: a call with typed fields, and functions from the call to task groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import FieldError, UnknownNameError
from ..hardware import GPU, DType
from ..numeric import Number
from ..scheduling import Occupancy, TaskGroups
from .one_by_one import Experts, Tiles

MAX_EXTENT = 2**31 - 1


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
    chosen: tuple[str, ...] = ()  # fields that a library chooses where they are not given
    always_one: tuple[str, ...] = ()  # number fields that every measured call has at 1
    shape: tuple[str, ...] = ()  # number fields that make a shape: what a split holds out whole
    variant: Callable[[Any], Any] = _one_variant  # text, or a column of texts: calls that have a network of their own

    def required(self) -> tuple[str, ...]:
        """Names of the fields that have no default."""
        return tuple(f.name for f in fields(self.call_type) if f.default is MISSING)

    def field_names(self) -> tuple[str, ...]:
        """Names of all fields, in their order."""
        return tuple(f.name for f in fields(self.call_type))


def call_from(family: KernelFamily, values: Mapping[str, Any]) -> Call:
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
    call: Call = family.call_type(**given)
    return call


def num_calls(call: Any) -> int | None:
    """Rows of a call that holds columns; None for a single call."""
    for name in call.__slots__:
        value = getattr(call, name)
        if type(value) is np.ndarray:
            return len(value)
    return None


def take(call: Any, rows: slice | np.ndarray) -> Any:
    """Some rows of a call that holds columns, without checking them again."""
    part = object.__new__(type(call))
    for name in call.__slots__:
        value = getattr(call, name)
        object.__setattr__(part, name, value[rows] if type(value) is np.ndarray else value)
    return part


def widened(call: Any, size: int, names: tuple[str, ...]) -> Any:
    """The call with the named fields as float64 columns of `size` calls, without checking them again."""
    wide = object.__new__(type(call))
    for name in call.__slots__:
        value = getattr(call, name)
        wanted = name in names and type(value) is not np.ndarray
        object.__setattr__(wide, name, np.full(size, value, dtype=np.float64) if wanted else value)
    return wide


def whole(name: str, value: Any, most: int = MAX_EXTENT) -> Number:
    """`value` as a whole number from 1 to `most`, or a float64 array of such.

    `14.0` and `"14"` are 14; `1.5` is refused.

    Raises:
        FieldError: naming the field, the value and the range.
    """
    if isinstance(value, np.ndarray) and hasattr(value, "mask"):  # numpy.ma itself is slow to import
        raise FieldError(f"{name} must have a value in every place, got a masked array")
    if isinstance(value, np.ndarray) and value.ndim > 0:
        return _whole_array(name, np.asarray(value), most)
    if hasattr(value, "to_numpy"):  # a column of a DataFrame
        return _whole_array(name, np.asarray(value.to_numpy()), most)
    if isinstance(value, list | tuple) and value:
        return _whole_array(name, _array(value), most)
    return _whole_number(name, value, most)


def _whole_number(name: str, value: Any, most: int) -> int:
    number: Any = value if type(value) is int else _number(value)
    if number is None or number != int(number) or not 1 <= number <= most:
        raise FieldError(f"{name} must be a whole number from 1 to {most}, got {_shown(value)}")
    return int(number)


def _number(value: Any) -> float | int | None:
    """A finite number from an int, a float, a NumPy scalar or decimal text; None when it is none of these."""
    if isinstance(value, bool | np.bool_ | bytes | list | tuple) or np.ndim(value) > 0:
        return None
    if isinstance(value, str):
        text = value.strip()
        try:
            return int(text) if text.isascii() and "_" not in text else None
        except ValueError:
            pass
    if isinstance(value, Decimal | Fraction):
        exact: Any = value  # a float would round away what makes it no whole number
        return int(exact) if exact == exact and abs(exact) <= MAX_EXTENT and exact == int(exact) else None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if np.isfinite(number) and not (isinstance(value, str) and "_" in value) else None


def _array(values: Sequence[Any]) -> np.ndarray:
    """A list as an array, of objects where its items are not all numbers."""
    if all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in values):
        try:
            return np.asarray(values)
        except (ValueError, OverflowError):
            pass
    found = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        found[i] = value
    return found


def _whole_array(name: str, value: np.ndarray, most: int) -> np.ndarray:
    if value.ndim != 1:
        raise FieldError(f"{name} must be one number or a list of them, got an array of shape {value.shape}")
    if value.dtype.kind not in "iuf":
        return np.array(
            [_whole_number(f"{name}[{i}]", v, most) for i, v in enumerate(value.tolist())], dtype=np.float64
        )
    value = value.astype(np.float64)
    with np.errstate(invalid="ignore"):
        good = (value >= 1) & (value <= most) & (value == np.floor(value))
    if not good.all():
        at = int(np.argmin(good))
        raise FieldError(
            f"{name} must be a whole number from 1 to {most}, got {_shown(value[at].item())} at index {at}"
        )
    return value


def name_of(name: str, value: Any) -> str:
    """`value` as a name of an engine or kernel: lower case, without surrounding spaces.

    Raises:
        FieldError: it is not text, or empty.
    """
    if not isinstance(value, str) or not value.strip():
        raise FieldError(f"{name} must be a name, got {_shown(value)}")
    return value.strip().lower()


def same_length(call: Any, names: tuple[str, ...]) -> None:
    """Checks that all fields that are arrays have one length.

    Raises:
        FieldError: naming the two fields that differ.
    """
    first = ""
    for name in names:
        value = getattr(call, name)
        if type(value) is not np.ndarray:
            continue
        if first and len(value) != len(getattr(call, first)):
            raise FieldError(f"{name} has {len(value)} values, but {first} has {len(getattr(call, first))}")
        first = first or name


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def dtype_of(name: str, value: Any) -> DType:
    """`value` as a number format.

    Raises:
        FieldError: no format has that name; the message lists the near or known ones.
    """
    if isinstance(value, DType):
        return value
    try:
        return DType(str(value).strip().lower())
    except ValueError:
        raise FieldError(f"{name}: {UnknownNameError.among('dtype', str(value), list(DType))}") from None
