"""What a kernel of sparse attention does, from `sparse_attention_kernels.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ..hardware import GPU, DType
from .attention_traits import Traits
from .dispatch import resolve
from .mla_call import MODULE
from .mla_traits import latent_traits, on_capability, require_capability
from .sparse_attention_call import SparseAttention


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SparseKernel:
    """`latent` is what the kernel does with the latents of a query; see the file for the rest."""

    engine: str
    name: str
    latent: Traits
    splits: bool
    whole: bool


def sparse_kernel(p: SparseAttention, gpu: GPU) -> SparseKernel:
    """The kernel that a call means, on this GPU.

    Raises:
        UnsupportedError: the kernel does not run on the GPU's compute capability; else as `dispatch.resolve`.
    """
    return _kernel(gpu, p.dtype, p.engine, p.kernel)


@lru_cache(maxsize=4096)
def _kernel(gpu: GPU, dtype: DType, engine: str | None, kernel: str | None) -> SparseKernel:
    own = gpu.compute_capability
    engine, name = resolve("sparse_attention", dtype, own, engine, kernel)
    listed = _kernels()[name.removesuffix(MODULE)]
    require_capability(listed, name, gpu)
    return SparseKernel(
        engine=engine,
        name=name,
        latent=latent_traits(listed, engine, name, gpu),
        splits=on_capability(listed["splits"], own),
        whole=on_capability(listed["whole"], own),
    )


@cache
def _kernels() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "sparse_attention_kernels.toml").read_text(encoding="utf-8"))
