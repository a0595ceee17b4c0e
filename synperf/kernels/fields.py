"""How the fields of a call are read: numbers, names, formats and truths, of one call or of columns."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import FieldError, UnknownNameError
from ..hardware import DType
from ..numeric import Number, is_array

MAX_EXTENT = 2**31 - 1
MOST_ELEMENTS = 2**53  # of an array without rows: every whole number up to here is exact in float64
_TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def set_numbers(call: Any, names: Sequence[str], *, optional: bool = False, most: int = MAX_EXTENT) -> bool:
    """Reads the named fields of a call as whole numbers, in place; gives whether all were plain ones before.

    `optional` fields may be None; none may be above `most`.

    Raises:
        FieldError: as `whole`.
    """
    were_plain = True
    for name in names:
        value = getattr(call, name)
        if (type(value) is int and 0 < value <= most) or (optional and value is None):
            continue
        object.__setattr__(call, name, whole(name, value, most))
        were_plain = False
    return were_plain


def set_names(call: Any) -> None:
    """Reads the engine and the kernel of a call, in place.

    Raises:
        FieldError: as `name_of`.
    """
    for name in ("engine", "kernel"):
        value = getattr(call, name)
        if value is not None:
            object.__setattr__(call, name, name_of(name, value))


def set_dtype(call: Any, name: str = "dtype") -> None:
    """Reads a format of a call, in place; None stays.

    Raises:
        FieldError: as `dtype_of`.
    """
    value = getattr(call, name)
    if value is not None and type(value) is not DType:
        object.__setattr__(call, name, dtype_of(name, value))


def truth(name: str, value: Any) -> bool:
    """`value` as true or false.

    Raises:
        FieldError: it is neither.
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    found = _TRUTHS.get(str(value).strip().lower()) if isinstance(value, str | int) else None
    if found is None:
        raise FieldError(f"{name} must be true or false, got {_shown(value)}")
    return found


def refuse(bad: Any, sentence: str, *values: Number) -> None:
    """Checks that nothing is bad; `sentence` has a place for each of the values, of the first bad call.

    Raises:
        FieldError: something is.
    """
    if bad is False or not np.any(bad):  # the first of one call, which NumPy would take microseconds for
        return
    at = int(np.argmax(bad)) if np.ndim(bad) else None
    shown = [v if at is None or not np.ndim(v) else int(v[at]) for v in values]
    raise FieldError(sentence.format(*shown) + ("" if at is None else f" at index {at}"))


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


def whole_or_none(name: str, value: Any) -> Any:
    """As `whole`, from 0 on, which is none.

    Raises:
        FieldError: as `whole`.
    """
    if is_array(value) or isinstance(value, list | tuple) or hasattr(value, "to_numpy"):
        numbers = np.asarray(value.to_numpy() if hasattr(value, "to_numpy") else value)
        if numbers.dtype.kind in "iuf" and numbers.ndim == 1:
            shown = whole(name, np.where(numbers == 0, 1, numbers))
            return np.where(numbers == 0, 0.0, shown)
        return np.array([whole_or_none(name, one) for one in numbers.tolist()], dtype=np.float64)
    if str(value).strip() in ("0", "0.0", "-0.0"):
        return 0
    try:
        return whole(name, value)
    except FieldError:
        raise FieldError(f"{name} must be a whole number from 0 (none) to {MAX_EXTENT}, got {value!r}") from None


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
