"""The file of fitted stacks that ships: factors by level, what they leave by recipe, and how far both are off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from ..digests import damage, signed, unsigned
from ..errors import FileFormatError
from .answer import Interval
from .factors import Factors
from .fitting.labels import Labels
from .fitting.residual import Covariance, Residual
from .policy import Policy

PATH = Path(__file__).with_name("stacks.json")
LEVELS = ("engine", "stack", "family", "recipe")  # the nearest that was measured


MOST_FACTOR = 1e3  # of a factor or a time of the host, in seconds


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """Measured over predicted times of points of a level, by fits that saw none of them: their central 80 %."""

    ttft: Interval
    tpot: Interval
    e2e: Interval
    points: int


class FittedLevel(msgspec.Struct, frozen=True, kw_only=True):
    """Factors of an engine, of a stack (with `gpu` and `source`), or of a family on it."""

    engine: str
    gpu: str = ""
    source: str = ""
    family: str = ""
    factors: Factors
    policy: Policy
    points: int

    @property
    def key(self) -> tuple[str, ...]:
        """What it is of, from the engine on."""
        return tuple(name for name in (self.engine, self.gpu, self.source, self.family) if name)


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """Points of one version of a recipe: concurrency, prompt and answer, and the weights of their residuals."""

    engine: str
    gpu: str
    source: str
    family: str
    format: str
    tp: int
    ep: int
    version: str
    loads: tuple[tuple[int, int, int], ...]
    ttft: tuple[float, ...]
    tpot: tuple[float, ...]


class StackFile(msgspec.Struct, frozen=True, kw_only=True):
    """`families` has the size of a model (`size_of`) and the name of its kin; `spreads` are by `LEVELS`."""

    provenance: dict[str, str]
    families: dict[str, str]
    spreads: dict[str, Spread]
    ttft: Covariance
    tpot: Covariance
    levels: tuple[FittedLevel, ...]
    measured: tuple[Measured, ...]

    def residuals(self) -> tuple[Residual, Residual]:
        """Those of the times to the first token and between tokens."""
        labels = self._labels()
        return (
            _residual(self.ttft, labels, [weight for one in self.measured for weight in one.ttft]),
            _residual(self.tpot, labels, [weight for one in self.measured for weight in one.tpot]),
        )

    def _labels(self) -> Labels:
        rows = [(one, load) for one in self.measured for load in one.loads]
        loads = np.array([(*load, one.tp, one.ep) for one, load in rows], dtype=float).reshape(-1, 5)
        texts = {
            name: np.array([str(getattr(one, name)) for one, _ in rows], dtype=object)
            for name in ("engine", "gpu", "source", "family", "format", "version", "tp", "ep")
        }
        return Labels(**texts, loads=np.log2(loads))


def _residual(covariance: Covariance, labels: Labels, weights: list[float]) -> Residual:
    return Residual(covariance=covariance, labels=labels, weights=np.array(weights))


def to_json(found: StackFile) -> str:
    """The text of the file."""
    return signed(found, indent=0).decode()


def read(path: Path) -> StackFile:
    """What `synperf fit-engine` wrote.

    Raises:
        FileFormatError: it cannot be read, or is no such file.
    """
    try:
        document, claimed = unsigned(msgspec.json.decode(path.read_bytes()))
        found = msgspec.convert(document, StackFile)
    except OSError as error:
        raise FileFormatError(f"{path.name}: {error.strerror or error}") from error
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        right = "right would be what `synperf fit-engine` wrote"
        raise FileFormatError(f"{path.name}: no fitted stacks: {str(error)[:120]}; {right}") from error
    if wrong := next(_wrong(found), damage(found, claimed)):
        raise FileFormatError(f"{path.name}: {wrong}; right would be what `synperf fit-engine` wrote")
    return found


def _wrong(found: StackFile) -> Iterator[str]:
    """What numbers of a file cannot be."""
    if not found.levels:
        yield "it has no levels"
    for one in found.levels:
        for name, value in asdict(one.factors).items():
            if not 0 <= value < MOST_FACTOR:
                yield f"{name} of {' '.join(one.key)} must be from 0 to {MOST_FACTOR:g}, got {value:g}"
    if lacking := sorted(set(LEVELS) - set(found.spreads)):
        yield f"spreads lack {', '.join(lacking)}"
    for level, spread in found.spreads.items():
        for interval in (spread.ttft, spread.tpot, spread.e2e):
            if not 0 < interval.low <= interval.high < np.inf:
                yield f"the interval of {level} must rise from above 0, got {interval.low:g} to {interval.high:g}"
    for points in found.measured:
        if not len(points.loads) == len(points.ttft) == len(points.tpot):
            yield f"points of {points.family} on {points.gpu} must have two weights for each load"
        if any(min(load) < 1 for load in points.loads):
            yield f"loads of {points.family} on {points.gpu} must be from 1 on"
        if not np.all(np.isfinite([*points.ttft, *points.tpot])):
            yield f"weights of {points.family} on {points.gpu} must be finite"


@cache
def shipped() -> StackFile:
    """The file of this version."""
    return msgspec.json.decode(PATH.read_bytes(), type=StackFile)
