"""Engines that serve models, as data: how they schedule, what memory they take, which batches they have graphs for."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import FieldError, UnknownNameError
from ..kernels.dispatch import engines as kernel_engines
from .policy import Policy

_FOLDER = Path(__file__).parent / "engines"
DEFAULT = "vllm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """`utilization` is the share of a GPU's memory that it takes, `graphs` the sizes that it pads decodes to.

    One that only runs kernels, and serves nobody, has no graphs, and the policy of the default engine.
    """

    name: str
    policy: Policy
    utilization: float
    graphs: tuple[int, ...] = ()
    serves: bool = True


def engines() -> tuple[str, ...]:
    """Names of the engines that serve models: one per file of `engines/`."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


@cache
def engine(name: str) -> Engine:
    """The engine of that name.

    Raises:
        FieldError: there is none.
    """
    if name not in kernel_engines():
        raise FieldError(f"engine: {UnknownNameError.among('engine', name, (*engines(), *kernel_engines()))}")
    if name not in engines():
        told = engine(DEFAULT)
        return Engine(name=name, policy=told.policy, utilization=told.utilization, serves=False)
    told_of = tomllib.loads((_FOLDER / f"{name}.toml").read_text())
    sizes = {size for first, last, step in told_of["graphs"] for size in range(first, last + 1, step)}
    return Engine(
        name=name,
        policy=Policy(**told_of["policy"]),
        utilization=told_of["utilization"],
        graphs=tuple(sorted(sizes)),
    )
