"""Whole-number arithmetic in text, such as `4 * (lane % 8 + 33 * (lane // 8))`: a parser of its own, that runs nothing.

It knows + - * // % & | ^ << >>, both signs, parentheses, whole numbers and the variables that it is given.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...errors import FieldError, UnknownNameError

_LONGEST = 200  # letters: deeper nesting than they allow would end Python's own stack
_MOST = 2**53  # of every value on the way, so that all are exact in float64, by which overflow is seen
_SHIFT = 62
Values = np.ndarray[Any, np.dtype[np.int64]]
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.remainder,
    ast.BitAnd: np.bitwise_and,
    ast.BitOr: np.bitwise_or,
    ast.BitXor: np.bitwise_xor,
    ast.LShift: np.left_shift,
    ast.RShift: np.right_shift,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {ast.UAdd: np.positive, ast.USub: np.negative}
_GROWING: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.LShift: np.ldexp,
}
_TAKEN = "+ - * // % & | ^ << >>, parentheses, whole numbers"


def evaluate(name: str, text: str, variables: Mapping[str, Values]) -> Values:
    """The values of an expression, one for each place of the variables, which are arrays of one shape.

    Raises:
        FieldError: `name` is no such expression, divides by 0, shifts too far or is too large.
    """
    if len(text) > _LONGEST:
        raise FieldError(f"{name} must have at most {_LONGEST} letters, got {len(text)}")
    shape = np.broadcast_shapes(*(values.shape for values in variables.values()))
    return np.broadcast_to(_Reader(name, variables).value(_tree(name, text)), shape)


def _tree(name: str, text: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of odd literals, which are refused below
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise FieldError(f"{name} must be whole-number arithmetic in lane, such as 4*lane, got {text[:60]!r}") from None


class _Reader:
    """One expression over its variables."""

    def __init__(self, name: str, variables: Mapping[str, Values]) -> None:
        self.name, self.variables = name, variables

    def value(self, node: ast.expr) -> Any:
        """What a part of the expression comes to."""
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return self._binary(type(node.op), self.value(node.left), self.value(node.right))
        if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
            return _UNARY[type(node.op)](self.value(node.operand))
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return self._kept(np.int64(min(node.value, _MOST + 1)))
        if isinstance(node, ast.Name):
            return self._variable(node.id)
        raise FieldError(f"{self.name} knows {_TAKEN} and {', '.join(self.variables)}, got {ast.unparse(node)[:60]!r}")

    def _variable(self, called: str) -> Values:
        if called not in self.variables:
            raise FieldError(f"{self.name}: {UnknownNameError.among('variable', called, self.variables)}")
        return self.variables[called]

    def _binary(self, operator: type[ast.operator], left: Any, right: Any) -> Any:
        if operator in (ast.FloorDiv, ast.Mod) and np.any(right == 0):
            raise FieldError(f"{self.name} must not divide by 0")
        if operator in (ast.LShift, ast.RShift) and np.any((right < 0) | (right > _SHIFT)):
            raise FieldError(f"{self.name} must shift by 0 to {_SHIFT}, got {np.ravel(right)[0]}")
        if operator in _GROWING:
            self._kept(_GROWING[operator](np.float64(left), right))
        return _BINARY[operator](left, right)

    def _kept(self, values: Any) -> Any:
        if np.any(np.abs(values) > _MOST):
            raise FieldError(f"{self.name} must stay below 2^53")
        return values
