"""Attention as torch's `scaled_dot_product_attention`, in one fused kernel."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.attention import SDPBackend
from torch.nn.functional import scaled_dot_product_attention

from ...errors import UnsupportedError
from ..source import Source
from ..timed import Fields, Made


def attention(f: Fields, source: Source) -> Made:
    torch.backends.cuda.enable_cudnn_sdp(False)  # of the fused kernels, those that estimates know
    batch, dim, dtype = f["batch"], f["head_dim"], f["dtype"]
    q = source.random(batch, f["heads"], f["q_len"], dim, dtype=dtype)
    k, v = (source.random(batch, f["kv_heads"], f["kv_len"], dim, dtype=dtype) for _ in range(2))
    source.written(batch, f["heads"], f["q_len"], dim, dtype=dtype)
    options: Any = {  # one query, the last, sees every key without a mask
        "is_causal": f["causal"] and f["q_len"] > 1,
        "enable_gqa": f["heads"] != f["kv_heads"],
    }
    backend = _backend(q, k, v, options)
    return Made(
        run=lambda: scaled_dot_product_attention(q, k, v, **options),
        library=f"sdpa {backend.lower()}",
        kernel=_FUSED.get(backend) if q.is_cuda and torch.version.hip is None else None,
    )


_FUSED = {"FLASH_ATTENTION": "fa2", "EFFICIENT_ATTENTION": "efficient"}  # on ROCm other kernels have these names


def _backend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, options: Any) -> str:
    """The name of torch's implementation that will run.

    Raises:
        UnsupportedError: it is none on a GPU, so that several kernels would run one after the other.
    """
    if q.is_meta:
        return ""
    found = str(SDPBackend(torch._fused_sdp_choice(q, k, v, **options)).name)
    if q.is_cuda and found not in _FUSED:
        raise UnsupportedError("no fused kernel takes it")
    return found
