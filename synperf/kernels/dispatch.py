"""Which engine and kernel a call means: as given, else what the engine dispatches for this format and GPU.

Rules are data: `engines/*.toml` (engine, dtype, compute capability -> kernel) and `kernel_sources.toml` (the
names that measured tables use -> canonical names). A rule, or all of a file, holds on the GPUs of the `makers` that it
names; of NVIDIA's, where it names none.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import FieldError, UnknownNameError, UnsupportedError
from ..hardware import DType
from ..hardware.capability import capability
from ..hardware.makers import NVIDIA, maker
from .own import ENGINE, LOADED

_FOLDER = Path(__file__).parent
_PLAIN_TORCH = (DType.FP32, DType.TF32, DType.FP16, DType.BF16)
PLAIN = "plain"  # no engine


@lru_cache(maxsize=1024)
def default_engine(family: str, dtype: DType, compute_capability: str) -> str:
    """`plain` for other makers' GPUs; else `torch` for GEMM in 16 bits and more, the engine that says so of a family,
    and `vllm` for all else.
    """
    if capability(compute_capability).maker != NVIDIA:
        return PLAIN
    if family == "gemm":
        return "torch" if dtype in _PLAIN_TORCH else "vllm"
    return next((name for name in engines() if family in _rules(name).get("default_for", ())), "vllm")


def engine_of_rows(
    family: str, dtype: DType, compute_capability: str, engine: str | None, measured: Collection[str]
) -> str | None:
    """The engine of a call that names none, on a GPU where none is known, by a user's rows: theirs, if one."""
    is_open = engine is None and default_engine(family, dtype, compute_capability) == PLAIN
    return next(iter(measured)) if is_open and len(measured) == 1 else engine


def measured_engine(family: str, dtype: DType, compute_capability: str) -> str:
    """The engine of a measured row that names none: a call's, or where that is none, one that has a kernel there."""
    engine = default_engine(family, dtype, compute_capability)
    known = [name for name in _engines_of(family, dtype, compute_capability) if name != PLAIN]
    return known[0] if engine == PLAIN and known else engine


@cache
def engines() -> tuple[str, ...]:
    """Names of all engines: one per file of `engines/`."""
    return tuple(sorted(path.stem for path in (_FOLDER / "engines").glob("*.toml")))


@lru_cache(maxsize=1024)
def resolve(
    family: str, dtype: DType, compute_capability: str, engine: str | None, kernel: str | None
) -> tuple[str, str]:
    """(engine, canonical kernel) of a call.

    Raises:
        FieldError: no engine or kernel has that name.
        UnsupportedError: the engine has no kernel for this format on this GPU; the given kernel is not for the format,
            or the GPU is of a maker that it does not run on.
    """
    if family in LOADED:
        return _own(family, engine, kernel)
    engine = engine or default_engine(family, dtype, compute_capability)
    if engine not in engines():
        known = _engines_of(family, dtype, compute_capability) or engines()
        raise FieldError(f"engine: {UnknownNameError.among('engine', engine, known)}")
    if kernel is not None:
        return engine, _given(family, kernel, dtype, compute_capability)
    found = _dispatched(family, engine, dtype, compute_capability)
    if found is None:
        on = "" if capability(compute_capability).maker == NVIDIA else f" {_where(compute_capability)}"
        right = _right(family, _engines_of(family, dtype, compute_capability), compute_capability)
        raise UnsupportedError(f"engine: {engine} has no {family} kernel for {dtype}{on}; {right}")
    return engine, found


def _dispatched(family: str, engine: str, dtype: DType, compute_capability: str) -> str | None:
    """The kernel of an engine's first rule that holds for the format on the GPU; None where none does."""
    for rule in _rules(engine).get(family, []):
        is_for = dtype in rule["dtype"] and compute_capability in rule.get("cc", [compute_capability])
        if is_for and _runs_on(rule, engine, compute_capability):
            return str(rule["kernel"])
    return None


@lru_cache(maxsize=1024)
def has_kernel(family: str, engine: str, dtype: DType) -> bool:
    """Whether an engine has a kernel of its own for the family in a format, on some GPU."""
    return any(dtype in rule["dtype"] for rule in _rules(engine).get(family, []))


def _engines_of(family: str, dtype: DType, compute_capability: str) -> list[str]:
    """Engines that have a kernel for the format on the GPU."""
    return [engine for engine, _ in _ways(family, dtype, compute_capability)]


def _given(family: str, kernel: str, dtype: DType, compute_capability: str) -> str:
    """The canonical name of a kernel that a call names.

    Raises:
        FieldError: no kernel of the family has that name.
        UnsupportedError: it does not run on GPUs of that maker, or is not for the format.
    """
    right = _kernels_of(family, dtype, compute_capability)
    name = canonical(family, kernel, dtype, right, compute_capability)
    _require_runs(family, name, compute_capability, right)
    formats = formats_of(family, name)
    if formats and dtype not in formats:
        has = f"kernel: {name} multiplies {', '.join(sorted(formats))}, not {dtype}"
        raise UnsupportedError(f"{has}; {_right(family, right, compute_capability)}")
    return name


def _right(family: str, names: Sequence[str], compute_capability: str) -> str:
    """What would do for a format; where nothing does, the formats for which something would."""
    if names:
        return f"right would be {', '.join(names)}"
    known = sorted(str(dtype) for dtype in DType if _ways(family, dtype, compute_capability))
    return f"{family} has kernels there for {', '.join(known) or 'no format'}"


@lru_cache(maxsize=1024)
def measured_as(family: str, engine: str, kernel: str, dtype: DType) -> str:
    """The name that a kernel has in measured rows: its own, where no rule of the engine says another.

    Rows whose times hold the launch on an idle GPU have one, whatever kernel of a library ran.
    """
    rules = [] if family in LOADED else _rules(engine).get(family, [])
    named = (
        rule["measured_as"]
        for rule in rules
        if rule["kernel"] == kernel and dtype in rule["dtype"] and "measured_as" in rule
    )
    return str(next(named, kernel))


def _runs_on(rule: dict[str, Any], engine: str, compute_capability: str) -> bool:
    """Whether a rule holds on GPUs of the capability's maker."""
    makers = rule.get("makers", _rules(engine).get("makers", [NVIDIA]))
    return capability(compute_capability).maker in makers


def _require_runs(family: str, kernel: str, compute_capability: str, right: Sequence[str]) -> None:
    """Raise UnsupportedError for a kernel that no rule has on GPUs of another maker than NVIDIA."""
    if capability(compute_capability).maker == NVIDIA or kernel in _kernels_on(family, compute_capability):
        return
    on = _where(compute_capability)
    said = _right(family, right, compute_capability)
    raise UnsupportedError(f"kernel: {kernel} is not known to run {on}; {said}")


def _kernels_of(family: str, dtype: DType, compute_capability: str) -> list[str]:
    """Kernels that some engine takes for the format on the GPU."""
    return sorted({kernel for _, kernel in _ways(family, dtype, compute_capability)})


def _ways(family: str, dtype: DType, compute_capability: str) -> list[tuple[str, str]]:
    """(engine, kernel) of every engine that has one for the format on the GPU."""
    found = ((engine, _dispatched(family, engine, dtype, compute_capability)) for engine in engines())
    return [(engine, kernel) for engine, kernel in found if kernel is not None]


def _where(compute_capability: str) -> str:
    """`on gfx942 of AMD`."""
    return f"on {compute_capability} of {maker(capability(compute_capability).maker).name}"


@cache
def _kernels_on(family: str, compute_capability: str) -> frozenset[str]:
    """Kernels of a family that some engine's rule has on the GPUs of the capability's maker."""
    return frozenset(
        str(rule["kernel"])
        for engine in engines()
        for rule in _rules(engine).get(family, [])
        if _runs_on(rule, engine, compute_capability)
    )


def _own(family: str, engine: str | None, kernel: str | None) -> tuple[str, str]:
    """Of a family of the user's own: no engine runs it, and its one kernel is called like it."""
    for field, given, right in (("engine", engine, ENGINE), ("kernel", kernel, family)):
        if given not in (None, right):
            raise FieldError(f"{field}: {family} is a family of your own; right would be none, or {right}, got {given}")
    return ENGINE, family


class Timed(NamedTuple):
    """How an engine's tables time a GEMM: this many copies of the weights take turns, or as few as fill L2."""

    copies: int
    fills_l2: bool


@lru_cache(maxsize=1024)
def timed(engine: str, dtype: DType) -> Timed:
    """What the engine's rules say of a format; one copy, which stays in L2 where it fits, where they say nothing."""
    for rule in _rules(engine).get("timed", []):
        if dtype in rule["dtype"]:
            return Timed(rule["copies"], rule.get("fills_l2", False))
    return Timed(1, False)


def canonical(
    family: str, kernel: str, dtype: DType, right: Sequence[str] = (), compute_capability: str | None = None
) -> str:
    """The canonical name of `kernel`, itself canonical or a measured table's own `kernel_source`.

    A refusal lists those that would be `right`, else all.

    Raises:
        FieldError: no kernel of the family has that name.
    """
    if kernel in _canonical_names(family):
        return kernel
    found = from_source(family, kernel, dtype, compute_capability)
    if found is None:
        raise FieldError(
            f"kernel: {UnknownNameError.among(f'{family} kernel', kernel, right or _canonical_names(family))}"
        )
    return found


@cache
def formats_of(family: str, kernel: str) -> frozenset[str]:
    """Formats that some engine dispatches to a kernel; empty where no rule of any engine names it."""
    rules = [rule for engine in engines() for rule in _rules(engine).get(family, [])]
    return frozenset(dtype for rule in rules if rule["kernel"] == kernel for dtype in rule["dtype"])


@lru_cache(maxsize=1024)
def from_source(family: str, kernel_source: str, dtype: DType, compute_capability: str | None = None) -> str | None:
    """Canonical name of a table's `kernel_source` for this format on the GPU, or None where nothing matches."""
    for rule in _sources().get(family, []):
        names = [name.lower() for name in rule["kernel_source"]]
        is_there = compute_capability in rule.get("cc", [compute_capability])
        if kernel_source.lower() in names and dtype in rule.get("dtype", [dtype]) and is_there:
            return str(rule["kernel"])
    return None


@cache
def _canonical_names(family: str) -> frozenset[str]:
    rules = [rule for engine in engines() for rule in _rules(engine).get(family, [])]
    return frozenset(str(rule["kernel"]) for rule in rules + _sources().get(family, []))


@cache
def _rules(engine: str) -> dict[str, Any]:
    """The rules of each family; those of `[[families]]` are of every family that they name."""
    found = tomllib.loads((_FOLDER / "engines" / f"{engine}.toml").read_text(encoding="utf-8"))
    for rule in found.pop("families", []):
        for name in rule["names"]:
            found.setdefault(name, []).append(rule)
    return found


@cache
def _sources() -> dict[str, Any]:
    return tomllib.loads((_FOLDER / "kernel_sources.toml").read_text(encoding="utf-8"))
