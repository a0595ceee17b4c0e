"""The fitted curves of every measured GPU, `fits/<key>.json`, and which of them answers for a call."""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import msgspec

from ..errors import FieldError, UnknownNameError
from ..hardware import DType
from .curves import Curve, Interval

FOLDER = Path(__file__).with_name("fits")
ANALYTICAL = "analytical"  # the file of intervals of what was fitted to nothing
_ENGINES = Path(__file__).with_name("engines.toml")


class Intervals(msgspec.Struct, frozen=True, kw_only=True):
    """Intervals of the estimate of NCCL's own model, within nodes, and what they rest on."""

    nccl: Interval
    provenance: dict[str, str]


@cache
def measured() -> tuple[str, ...]:
    """Keys of the GPUs that have curves."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != ANALYTICAL))


@cache
def curves(gpu: str) -> tuple[Curve, ...]:
    """Every curve of a GPU; none where nobody measured it."""
    path = FOLDER / f"{gpu}.json"
    return msgspec.json.decode(path.read_bytes(), type=tuple[Curve, ...]) if path.is_file() else ()


@cache
def intervals() -> Intervals:
    """The spread of what is fitted to nothing."""
    return msgspec.json.decode((FOLDER / f"{ANALYTICAL}.json").read_bytes(), type=Intervals)


def kernels(operation: str, engine: str | None, kernel: str | None) -> tuple[tuple[str, str], ...]:
    """(engine, kernel) pairs that may run an operation, the first that was measured answers.

    Raises:
        FieldError: no such engine, or no such kernel of it for the operation.
    """
    rules = _rules()
    if engine is not None and engine not in rules["engine"]:
        raise FieldError(f"engine: {UnknownNameError.among('engine', engine, rules['engine'])}")
    names = [engine] if engine is not None else rules["order"]
    found = [(pair[0], pair[1]) for name in names for pair in _pairs(name, operation)]
    if kernel is None:
        return tuple(dict.fromkeys(found))
    chosen = tuple(dict.fromkeys(pair for pair in found if pair[1] == kernel))
    if not chosen:
        known = sorted({pair[1] for pair in found})
        raise FieldError(f"kernel: {UnknownNameError.among(f'kernel of {operation}', kernel, known)}")
    return chosen


@lru_cache(maxsize=4096)
def find(
    gpu: str, operation: str, dtype: DType, link: str, network: str, engine: str | None, kernel: str | None
) -> Curve | None:
    """The curve of the first kernel that was measured there; None where none was.

    Its format is the call's, or one that moves as it does.

    Raises: as `kernels`.
    """
    pairs = kernels(operation, engine, kernel)
    place = (operation, link, network)
    here = [one for one in curves(gpu) if (one.operation, one.link, one.network) == place]
    ranked = (
        one
        for pair in pairs
        for name in _formats(dtype)
        for one in here
        if (one.engine, one.kernel, one.dtype) == (*pair, name)
    )
    return next(ranked, None)


def _formats(dtype: DType) -> tuple[str, ...]:
    """Measured formats that stand for this one, its own first: a sum is of 16-bit numbers or of bytes."""
    return (str(dtype), *(_rules()["narrow"] if dtype.bytes < 2 else _rules()["wide"]))


def _pairs(engine: str, operation: str) -> list[list[str]]:
    rules = _rules()
    pairs: list[list[str]] = rules["engine"][engine].get(operation, rules["operations"].get(operation, []))
    return pairs


@cache
def _rules() -> dict[str, Any]:
    return tomllib.loads(_ENGINES.read_text(encoding="utf-8"))
