"""What an MLA kernel does, from `mla_kernels.toml`: its tiles, when it splits, what it launches besides."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from math import inf
from pathlib import Path
from typing import Any

from ..errors import UnsupportedError
from ..hardware import GPU, DType
from .attention_traits import Traits
from .dispatch import resolve
from .mla_call import MODULE, Mla


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MlaKernel:
    """`prefill` is the attention kernel over decompressed keys, `latent` what the absorbed kernel does."""

    engine: str
    name: str
    prefill: str
    latent: Traits
    splits: bool
    rearranges: bool
    widens: bool


def mla_kernel(p: Mla, gpu: GPU) -> MlaKernel:
    """The kernel that a call means, on this GPU.

    Raises:
        UnsupportedError: the kernel does not run on the GPU's compute capability; else as `dispatch.resolve`.
    """
    return _kernel(gpu, p.dtype, p.engine, p.kernel)


@lru_cache(maxsize=4096)
def _kernel(gpu: GPU, dtype: DType, engine: str | None, kernel: str | None) -> MlaKernel:
    own = gpu.compute_capability
    engine, name = resolve("mla", dtype, own, engine, kernel)
    listed = _kernels()[name.removesuffix(MODULE)]
    require_capability(listed, name, gpu)
    return MlaKernel(
        engine=engine,
        name=name,
        prefill=on_capability(listed["prefill"], own),
        latent=latent_traits(listed, engine, name, gpu),
        splits=on_capability(listed["splits"], own),
        rearranges=listed.get("rearranges", False),
        widens=listed.get("widens", False),
    )


def require_capability(listed: dict[str, Any], name: str, gpu: GPU) -> None:
    """Raise UnsupportedError where the kernel names capabilities and the GPU's is none of them."""
    own = gpu.compute_capability
    if own not in listed.get("cc", [own]):
        needed = ", ".join(listed["cc"])
        raise UnsupportedError(f"kernel: {name} needs compute capability {needed}; that of {gpu.name} is {own}")


def latent_traits(listed: dict[str, Any], engine: str, name: str, gpu: GPU) -> Traits:
    """What a kernel over latents does, as the attention family has it."""
    own = gpu.compute_capability
    rows, columns = on_capability(listed["tiles"], own)
    return Traits(
        engine=engine,
        kernel=name,
        longest_first=True,
        packs_always=True,
        most_packed=inf,
        splits_narrow=True,
        few_rows=tuple(map(float, on_capability(listed["few_rows"], own))),
        splits_at=0.0,
        stages=2,
        prepares_queries=False,
        fill_s=listed["fill"] / gpu.clock_hz,
        dims=(),
        rows=(float(rows),),
        columns=(float(columns),),
        reduction_s=0.0,
    )


def on_capability(by_capability: dict[str, Any], own: str) -> Any:
    """What a table by compute capability says of this one."""
    return by_capability.get(own, by_capability["else"])


@cache
def _kernels() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "mla_kernels.toml").read_text(encoding="utf-8"))
