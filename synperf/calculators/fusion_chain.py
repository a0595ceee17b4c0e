"""Operators of a chain, and how often each touches memory for an element: apart, and fused into one kernel."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import FieldError, UnknownNameError

_FILE = Path(__file__).with_name("fusion_ops.toml")
_MOST = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """An operator of fusion_ops.toml, which says what the fields mean."""

    name: str
    kind: str
    inputs: int = 1
    others: int = 0
    writes: int = 1
    flop: int = 1
    registers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Elements that one operator reads and writes for each element of its output."""

    name: str
    reads: int
    writes: int


@cache
def operators() -> dict[str, Operator]:
    """Every operator, by name."""
    return {name: Operator(name=name, **fields) for name, fields in tomllib.loads(_FILE.read_text("utf-8")).items()}


def chain(names: Sequence[str]) -> tuple[Operator, ...]:
    """The operators of a chain; one that computes from operands of its own can only be the first.

    Raises:
        FieldError: fewer than two, or such an operator further on.
        UnknownNameError: no such operator.
    """
    for name in names:
        if name not in operators():
            raise UnknownNameError(f"chain: {UnknownNameError.among('operator', name, operators())}")
    found = tuple(operators()[name] for name in names)
    if not 2 <= len(found) <= _MOST:
        raise FieldError(f"chain must have from 2 to {_MOST} operators, e.g. conv,bn,relu, got {len(found)}")
    late = next((one.name for one in found[1:] if one.kind == "head"), None)
    if late is not None:
        raise FieldError(f"chain: {late} computes from operands of its own and can only be the first")
    return found


def apart(ops: Sequence[Operator]) -> tuple[Access, ...]:
    """Each operator as a kernel of its own."""
    return tuple(Access(name=one.name, reads=one.inputs + one.others, writes=one.writes) for one in ops)


def fused(ops: Sequence[Operator]) -> tuple[Access, ...]:
    """The chain as one kernel: it reads what does not come from within, and writes its last result."""
    last = len(ops) - 1
    return tuple(
        Access(
            name=one.name,
            reads=one.others + (one.inputs if place == 0 else 0),
            writes=one.writes if place == last else 0,
        )
        for place, one in enumerate(ops)
    )
