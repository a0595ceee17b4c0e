"""Useful FLOP and compulsory bytes of one run of an operator, from the shapes that the profiler records.

Bytes are every operand read once and the result written once, at the formats recorded; the result has that of the first
operand. A multiply-add is two FLOP. What is not recorded, or is not of the form that a formula is for, has none.
Which operator has which formula, and where its arguments stand, is in operator_formulas.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

Shape = tuple[int, ...]
_FILE = Path(__file__).with_name("operator_formulas.toml")
_LARGEST = 2**40  # an extent beyond it is damage
_list = msgspec.json.Decoder(list[Any]).decode
_texts = msgspec.json.Decoder(list[str]).decode
_whole_numbers = msgspec.json.Decoder(list[int]).decode
_MOST = 2**62  # FLOP or bytes of one run: so are more


class Work(NamedTuple):
    """Of one run. `dtype` is the format that is multiplied, empty where GPUs list no rate for it; `form` the formula;
    `gemm` batch, m, n and k of a matrix product.
    """

    flop: int
    bytes: int
    dtype: str
    form: str
    gemm: tuple[int, int, int, int] | None = None


class _Given(NamedTuple):
    """Arguments of one run: shapes of tensors (empty of what is none), their types, concrete values as text."""

    shapes: Sequence[Shape]
    types: Sequence[str]
    values: Sequence[str]

    def shape(self, place: int | None) -> Shape:
        return self.shapes[place] if place is not None and place < len(self.shapes) else ()

    def width(self, place: int) -> int:
        """Bytes of one value of an argument."""
        return int(_formats()[self.types[place]][0])

    def bytes(self, *places: int | None) -> int:
        """Bytes of these arguments; those that are not given have none."""
        return sum(prod(self.shape(p)) * self.width(p) for p in places if p is not None and self.shape(p))

    def numbers(self, place: int, rank: int) -> Shape:
        """A concrete list of `rank` numbers; one number stands for all."""
        found = tuple(_whole_numbers(self.values[place]))
        return found * rank if len(found) == 1 else found

    def truth(self, place: int) -> bool:
        return {"True": True, "False": False}[self.values[place]]


def formula(name: str) -> str:
    """The form of the formula of an operator; empty where it has none."""
    return str(_operators()[name]["form"]) if name in _operators() else ""


@cache
def needing_values() -> frozenset[str]:
    """The operators whose formula asks for concrete values."""
    return frozenset(name for name in _operators() if formula(name) in ("conv", "attention"))


@cache
def work(name: str, dims: str, types: str, values: str) -> Work | None:
    """What one run of an operator computes and moves; None where it has no formula, or its arguments say too little."""
    if name not in _operators():
        return None
    rule = _operators()[name]
    try:
        given = _Given(_shapes(dims), _texts(types), _texts(values or "[]"))
        found = _FORMS[rule["form"]](rule, given)
    except (msgspec.MsgspecError, LookupError, ValueError, TypeError):
        return None  # damaged, or of a form that no formula is for
    return found if max(found.flop, found.bytes) <= _MOST else None


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


@cache
def _operators() -> Mapping[str, Mapping[str, Any]]:
    return {name: rule for rule in _table()["operator"] for name in rule["names"]}


@cache
def _formats() -> Mapping[str, Sequence[Any]]:
    formats: Mapping[str, Sequence[Any]] = _table()["formats"]
    return formats


def _shapes(text: str) -> list[Shape]:
    """Shapes of all arguments; a list of tensors has none."""
    found = []
    for one in _list(text):
        is_shape = isinstance(one, list) and all(type(n) is int and 0 <= n < _LARGEST for n in one)
        found.append(tuple(one) if is_shape else ())
    return found


def _dtype(given: _Given, place: int) -> str:
    return str(_formats()[given.types[place]][1])


def _gemm(rule: Mapping[str, Any], given: _Given) -> Work:
    """2 b m n k, and an add per value of the result for a bias."""
    a, b, bias = given.shape(rule["a"]), given.shape(rule["b"]), rule.get("bias")
    *front, m, k = a if len(a) > 1 else (1, *a)
    k_of_b, n = (b[-1], b[-2]) if rule.get("transposed") else (b[-2], b[-1])
    if k != k_of_b:
        raise ValueError(a, b)
    if len(b) == 2:
        front, m = [], m * prod(front)
    elif len(front) < len(b) - 2:
        front = list(b[:-2])
    batch = prod(front)
    result = batch * m * n
    moved = given.bytes(rule["a"], rule["b"], bias) + result * given.width(rule["a"])
    flop = 2 * result * k + (result if given.shape(bias) else 0)
    return Work(flop=flop, bytes=moved, dtype=_dtype(given, rule["a"]), form="gemm", gemm=(batch, m, n, k))


def _conv(rule: Mapping[str, Any], given: _Given) -> Work:
    """2 x values of the result x taps of the kernel x input channels of the group, and an add per value for a bias."""
    image, kernel, bias = given.shape(0), given.shape(1), rule.get("bias")
    rank = len(kernel) - 2
    stride, padding, dilation = (given.numbers(rule[what], rank) for what in ("stride", "padding", "dilation"))
    if "transposed" in rule and given.truth(rule["transposed"]):
        raise ValueError("transposed")
    sides = zip(image[2:], kernel[2:], stride, padding, dilation, strict=True)
    positions = [(size + 2 * pad - step * (taps - 1) - 1) // by + 1 for size, taps, by, pad, step in sides]
    result = image[0] * kernel[0] * prod(positions)
    flop = 2 * result * prod(kernel[1:]) + (result if given.shape(bias) else 0)
    return Work(flop=flop, bytes=given.bytes(0, 1, bias) + result * given.width(0), dtype=_dtype(given, 0), form="conv")


def _conv_backward(rule: Mapping[str, Any], given: _Given) -> Work:  # noqa: ARG001
    """The gradients of image and kernel: each as many FLOP as the convolution. All three are read, two are written."""
    gradient, image, kernel = (given.shape(place) for place in range(3))
    if not len(gradient) == len(image) == len(kernel) > 2:
        raise ValueError(gradient, image, kernel)
    return Work(
        flop=4 * prod(gradient) * prod(kernel[1:]), bytes=given.bytes(0, 1, 2, 1, 2), dtype=_dtype(given, 0),
        form="conv",
    )  # fmt: skip


def _attention(rule: Mapping[str, Any], given: _Given) -> Work:
    """2 x pairs of a query and a key that meet x heads x (width of K + width of V).

    A causal query i sees keys 0 to i, as PyTorch masks them.
    """
    if given.shape(rule.get("packed")):
        raise ValueError("packed")
    q, k, v = (given.shape(place) for place in range(3))
    batch, heads, rows, width = (q[0], q[2], q[1], q[3]) if rule.get("rows_first") else q
    keys = k[1] if rule.get("rows_first") else k[2]
    seen = min(rows, keys)
    pairs = seen * (seen + 1) // 2 + (rows - seen) * keys if given.truth(rule["causal"]) else rows * keys
    moved = given.bytes(0, 1, 2) + batch * heads * rows * v[-1] * given.width(0)
    flop = 2 * batch * heads * pairs * (width + v[-1])
    return Work(flop=flop, bytes=moved, dtype=_dtype(given, 0), form="attention")


def _norm(rule: Mapping[str, Any], given: _Given) -> Work:
    """So many FLOP for each value; values read and written once, parameters read."""
    if not given.shape(0):
        raise ValueError("no shape")
    moved = 2 * given.bytes(0) + given.bytes(*rule["params"])
    return Work(flop=prod(given.shape(0)) * rule["flop"], bytes=moved, dtype=_dtype(given, 0), form="norm")


def _elementwise(rule: Mapping[str, Any], given: _Given) -> Work:
    """So many FLOP for each value of the result, whose extents are the largest of the operands'."""
    tensors = [place for place, shape in enumerate(given.shapes) if shape]
    longest = max(len(given.shape(place)) for place in tensors)
    padded = [(1,) * (longest - len(shape)) + tuple(shape) for shape in map(given.shape, tensors)]
    result = prod(max(sides) for sides in zip(*padded, strict=True))
    moved = given.bytes(*tensors) + result * max(map(given.width, tensors))
    return Work(flop=result * rule["flop"], bytes=moved, dtype=_dtype(given, tensors[0]), form="elementwise")


def _copy(rule: Mapping[str, Any], given: _Given) -> Work:  # noqa: ARG001
    """Read once, written once; a value that is expanded on the way is read once."""
    return Work(flop=0, bytes=given.bytes(0, 1), dtype=_dtype(given, 0), form="elementwise")


_FORMS: Mapping[str, Callable[[Mapping[str, Any], _Given], Work]] = {
    "gemm": _gemm,
    "conv": _conv,
    "conv_backward": _conv_backward,
    "attention": _attention,
    "norm": _norm,
    "elementwise": _elementwise,
    "copy": _copy,
}
