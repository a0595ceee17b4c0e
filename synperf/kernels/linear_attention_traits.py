"""How libraries run linear attention: `linear_attention_kernels.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ..errors import UnsupportedError
from ..hardware import GPU, DType
from ..hardware.launch import launch_floor
from .dispatch import from_source, resolve

_WHERE = ("variants", "cc")  # what calls and GPUs a kernel is of, which changes nothing in how it runs
_EVERYWHERE = "chunked"  # the kernel of prompts of every variant and GPU


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """What the file says of one kernel, and `after_s`, the floors of the launches that follow the first."""

    kernel: str
    chains: bool
    launches: int
    state_bytes: float
    columns: int
    convolves: bool = False
    phase: str = ""
    after_s: float


@lru_cache(maxsize=4096)
def style(gpu: GPU, dtype: DType, engine: str | None, kernel: str | None) -> Style:
    """How the kernel that a call means runs.

    Raises:
        UnsupportedError: the kernel is not built for the GPU.
        FieldError, UnsupportedError: as `dispatch.resolve`.
    """
    _, name = resolve("linear_attention", dtype, gpu.compute_capability, engine, kernel)
    listed = _file()[name]
    if gpu.compute_capability not in listed.get("cc", [gpu.compute_capability]):
        right = f"right would be another GPU, or kernel={_EVERYWHERE}"
        raise UnsupportedError(f"kernel: {name} is not built for {gpu.name}; {right}")
    one_s = launch_floor(gpu, "linear_attention", name, dtype)[0]
    return Style(
        kernel=name,
        after_s=(listed["launches"] - 1) * one_s,
        **{key: value for key, value in listed.items() if key not in _WHERE},
    )


def decode_kernel(engine: str | None) -> str:
    """The kernel that an engine runs for one token of each request."""
    rules = _file()["decode"]
    return str(rules.get(engine, rules["else"]))


def prefill_kernels(variant: str) -> dict[str, str]:
    """The kernels that engines run over prompts of a variant, by engine; empty where that is by format and GPU."""
    found: dict[str, str] = _file()["prefill"].get(variant, {})
    return found


def phase_of(kernel: str | None) -> str:
    """The phase that a kernel is of; empty where it is of both, or unknown."""
    return str(_listed(kernel).get("phase", ""))


def variants_of(kernel: str | None) -> tuple[str, ...]:
    """The variants that a kernel is of; empty where it is of all, or unknown."""
    return tuple(_listed(kernel).get("variants", ()))


def convolves(kernel: str | None) -> bool:
    """Whether a kernel is the short convolution before the scan."""
    return bool(_listed(kernel).get("convolves", False))


def state_bytes(kernel: str | None) -> float:
    """Bytes of a value of the state, whatever the GPU; fp32 where no kernel is named."""
    return float(_listed(kernel).get("state_bytes", _file()["chunked"]["state_bytes"]))


def _listed(kernel: str | None) -> dict[str, Any]:
    """What the file says of a kernel by its canonical name or by that of measured tables."""
    name = kernel or ""
    found: dict[str, Any] = _file().get(name) or _file().get(_of_tables(name), {})
    return found


@lru_cache(maxsize=256)
def _of_tables(name: str) -> str:
    return from_source("linear_attention", name, DType.BF16) or ""


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("linear_attention_kernels.toml").read_text(encoding="utf-8"))
