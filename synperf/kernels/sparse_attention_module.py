"""What a module adds to the core of sparse attention: projections, the indexer's scores, and the launches between."""

from __future__ import annotations

from ..hardware import GPU, DType
from ..numeric import Number, ceil_div, maximum, where
from ..scheduling import TaskGroups
from . import gemm
from .mla_call import unquantised
from .mla_core import missed_share, side_s
from .mla_module import as_gemm, as_launch, projection_s
from .sparse_attention_call import SparseAttention
from .sparse_attention_work import (
    GATE_FLOP,
    LOGIT_BYTES,
    gathered_bytes,
    handed_bytes,
    index_bytes,
    projections,
    score_flop,
    scored,
    side_bytes,
)


def tasks(p: SparseAttention, core: TaskGroups, gpu: GPU) -> TaskGroups:
    """The core, then projections and scores, the time of each on its own slowest pipe, as work of the one that
    multiplies.
    """
    around_s = sum(projection_s(x, gpu) for x in projections(p)) + index_s(p, gpu)
    core.then = as_launch(around_s, p.dtype, gpu)
    core.before_s = core.before_s + side_s(side_bytes(p), handed_bytes(p), gpu) + select_s(p, gpu)
    return core


def index_dtype(p: SparseAttention, gpu: GPU) -> DType:
    """What the indexer multiplies in: fp8, or 16 bits on a GPU that has no fp8."""
    return DType.FP8 if DType.FP8 in gpu.dtypes() else unquantised(p.dtype)


def index_s(p: SparseAttention, gpu: GPU) -> Number:
    """Seconds of the indexer's scores on the slowest pipe but DRAM, spread evenly over all SMs."""
    multiplied = score_flop(p) / gpu.flop_per_clk_per_sm(index_dtype(p, gpu))
    gated = scored(p) * p.index_heads * GATE_FLOP / gpu.fma_flop_per_clk_per_sm[DType.FP32]
    keys = scored(p) / p.q_len * index_bytes(p) / gpu.l2_bytes_per_s
    return maximum(maximum(multiplied, gated) / (gpu.num_sms * gpu.clock_hz), keys)


def select_s(p: SparseAttention, gpu: GPU) -> Number:
    """Seconds of the selection: one CTA reads all scores of a query twice.

    Source: TensorRT-LLM, indexerTopK.cu, and SGLang, sgl-kernel/csrc/elementwise/topk.cu: a grid of queries.
    """
    waves = ceil_div(1.0 * p.batch * p.q_len, gpu.num_sms)
    longest = where(scored(p) > 0.0, 1.0 * p.kv_len, 0.0)
    return waves * longest * (2.0 * LOGIT_BYTES) / gpu.l2_port_bytes_per_s


def repeated_bytes(p: SparseAttention, gpu: GPU, cached: Number) -> Number:
    """Latents that later queries read again, for the share of a request's `cached` bytes that L2 cannot hold."""
    return maximum(gathered_bytes(p), 0.0) * missed_share(cached, gpu)


def dram_bytes(p: SparseAttention, gpu: GPU) -> Number:
    """Beside the compulsory bytes and latents: what L2 cannot hold of what launches hand on, what products reread."""
    handed = handed_bytes(p)
    spilled = 2.0 * maximum(handed - gpu.l2_bytes, 0.0) + side_bytes(p) * missed_share(handed, gpu)
    calls = [as_gemm(x) for x in projections(p)]
    return spilled + sum(gemm.dram_bytes(call, gpu) - gemm.compulsory_bytes(call) for call in calls)
