"""The fitted factors of a stack: of the nearest that was measured, and how far they are off."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from ..hardware import GPU
from ..models import Model, Plan, parameters
from ..models.formats import main_format
from .engine import DEFAULT, engine
from .fitted import ENGINE, Fitted, bare
from .fitting.labels import FAMILY, Labels, nearest
from .fitting.residual import Residual
from .stack_file import FittedLevel, Measured, StackFile, shipped

_Source = tuple[tuple[bool | int, ...], str, str]
_OTHER = "an engine without measured serving points: kernels as predicted, without the host's time"


def stack(model: Model, plan: Plan, gpu: GPU, version: str | None = None, own: StackFile | None = None) -> Fitted:
    """What is known of the plan's engine on a GPU with a model; `version` is that of the engine.

    `own` is what `synperf fit-engine` wrote; it answers for the stacks that it has points of. Of several sources of
    points it is that with the version, else that which measured the recipe, the family, or most.

    Raises:
        FieldError: no such engine.
    """
    serving = engine(plan.engine or DEFAULT)
    for known in filter(None, (own, shipped())):
        left = _residuals(known)
        label = _label(known, model, plan, gpu, serving.name, version)
        found = _nearest(known, label, left)
        if found is not None and (known is not own or found[0] != ENGINE):
            level, fitted = found
            spread = known.spreads[level]
            return Fitted(
                factors=fitted.factors, policy=fitted.policy, level=level, origin=_said(level, fitted, label),
                ttft=spread.ttft, tpot=spread.tpot, e2e=spread.e2e, label=label, left=left,
                versions=_versions(known, serving.name, gpu), is_own=known is own,
            )  # fmt: skip
    return bare(serving.policy, _OTHER)


def _versions(known: StackFile, engine_name: str, gpu: GPU) -> tuple[str, ...]:
    found = {one.version for one in known.measured if (one.engine, one.gpu) == (engine_name, gpu.key)}
    return tuple(sorted(found - {""}))


def size_of(model: Model) -> str:
    """What tells models of one family from others: layers, width and parameters."""
    return f"{model.num_layers} x {model.hidden}, {parameters(model)}"


def _label(known: StackFile, model: Model, plan: Plan, gpu: GPU, engine_name: str, version: str | None) -> Labels:
    """The labels of a point of that stack, at a load of ones."""
    texts = {
        "engine": engine_name, "gpu": gpu.key, "family": known.families.get(size_of(model), ""),
        "format": str(main_format(model, plan)), "tp": str(plan.tp), "ep": str(plan.ep),
    }  # fmt: skip
    measured = max(_sources(known, texts, version), default=None)
    source, named = (measured[1], measured[2]) if measured else ("", "")
    texts |= {"source": source, "version": version or named}
    columns = {name: np.array([value], dtype=object) for name, value in texts.items()}
    return Labels(**columns, loads=np.log2([[1.0, 1.0, 1.0, plan.tp, plan.ep]]))


def _sources(
    known: StackFile, texts: dict[str, str], version: str | None
) -> Iterator[tuple[tuple[bool | int, ...], str, str]]:
    """Sources with points of the engine on the GPU: how near they are, the name, and the version that they ran."""
    for one in known.measured:
        if (one.engine, one.gpu) != (texts["engine"], texts["gpu"]):
            continue
        same = [str(getattr(one, name)) == texts[name] for name in ("family", "format", "tp", "ep")]
        near = (one.version == version, all(same), same[0], _points(known, one), len(one.loads))
        yield near, one.source, one.version


def _points(known: StackFile, one: Measured) -> int:
    """All points of a source on the stack."""
    place = (one.engine, one.gpu, one.source)
    return sum(len(other.loads) for other in known.measured if (other.engine, other.gpu, other.source) == place)


def _nearest(known: StackFile, label: Labels, left: tuple[Residual, ...]) -> tuple[str, FittedLevel] | None:
    """The level that was measured, and the factors: of the family, of the stack, or of the engine."""
    key = label.keys(FAMILY)[0]
    levels = {one.key: one for one in known.levels}
    fitted = next((levels[key[:n]] for n in range(len(key), 0, -1) if key[:n] in levels and all(key[:n])), None)
    if fitted is None:
        return None
    return nearest(label, left[0].labels)[0], fitted


def _said(level: str, fitted: FittedLevel, label: Labels) -> str:
    family = label.family[0] or "a model of another family"
    what = {
        "recipe": f"{family} with its format, tp and ep was measured there",
        "family": f"{family} was measured there, in another format, tp or ep",
        "stack": f"{family} was not measured there, other models were",
        "engine": "measured on other GPUs alone",
    }[level]
    where = f"{label.engine[0]} on {label.gpu[0]}"
    if not fitted.points:
        return f"those of the nearest stack that ships, and what your own points were off, for {where}: {what}"
    return f"fitted to {fitted.points} measured serving points of {' '.join(fitted.key)} for {where}: {what}"


def _residuals(known: StackFile) -> tuple[Residual, Residual]:
    return _shipped_residuals() if known is shipped() else known.residuals()


@cache
def _shipped_residuals() -> tuple[Residual, Residual]:
    return shipped().residuals()
