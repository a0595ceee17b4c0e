"""What a module adds to the core of MLA: projections down and up, absorbed products per head, the output.

Down: hidden -> 1536 for queries and kv_lora_rank + rope_dim for the cache, on every rank. Up: 1536 -> heads of 192; in
prefill kv_lora_rank -> heads of 128 + 128. Absorbed: a product per head into and out of latent space. Output: heads of
128 -> hidden. Source: config.json and modeling_deepseek.py of DeepSeek-V3, whose sizes these are.
"""

from __future__ import annotations

from typing import NamedTuple

from ..hardware import GPU, DType
from ..numeric import Number, maximum
from ..scheduling import TaskGroups
from ..scheduling.hardware import busiest_sm_tasks
from . import gemm
from .attention_work import out_bytes
from .gemm_call import Gemm
from .gemm_costs import value_bytes
from .mla_call import Mla, unquantised
from .mla_core import NOPE_DIM, V_DIM, as_attention, cached_bytes, missed_share, side_s

HIDDEN = 7168
Q_RANK = 1536
# How many times faster than 16 bits a format multiplies at most, on any GPU of the catalog.
FASTER = {DType.FP8: 2.0, DType.FP8_BLOCK: 2.0, DType.NVFP4: 8.0}


class Projection(NamedTuple):
    """One product of a module; `batch` of the same shape where it is one per head."""

    name: str
    rows: Number
    n: Number
    k: Number
    batch: Number
    dtype: DType


def projections(p: Mla) -> tuple[Projection, ...]:
    """The products around the core, in their order."""
    dtype, wide = p.proj_dtype or unquantised(p.dtype), unquantised(p.dtype)
    tokens, keys = 1.0 * p.batch * p.q_len, 1.0 * p.batch * p.kv_len
    down = Projection("down", tokens, Q_RANK + p.kv_lora_rank + p.rope_dim, HIDDEN, 1, dtype)
    up = Projection("q_up", tokens, p.heads * (NOPE_DIM + p.rope_dim), Q_RANK, 1, dtype)
    out = Projection("out", tokens, HIDDEN, p.heads * V_DIM, 1, dtype)
    if p.absorbed:
        into = Projection("into_latent", tokens, p.kv_lora_rank, NOPE_DIM, p.heads, wide)
        back = Projection("out_of_latent", tokens, V_DIM, p.kv_lora_rank, p.heads, wide)
        return down, up, into, back, out
    return down, up, Projection("kv_up", keys, p.heads * (NOPE_DIM + V_DIM), p.kv_lora_rank, 1, dtype), out


def flop(p: Mla) -> Number:
    """FLOP of the projections, each counted as no more FLOP of the core's format than take as long on any GPU."""
    core = FASTER.get(p.dtype, 1.0)
    return sum(2.0 * x.rows * x.n * x.k * x.batch * (core / FASTER.get(x.dtype, 1.0)) for x in projections(p))


def weight_bytes(p: Mla) -> Number:
    """Weights of all projections with their scales."""
    return sum(value_bytes(x.dtype)[1] * x.n * x.k * x.batch for x in projections(p))


def compulsory_bytes(p: Mla) -> Number:
    """Hidden states read and written, weights read, the cache of all tokens read or written: once."""
    hidden = 2.0 * p.batch * p.q_len * HIDDEN * out_bytes(as_attention(p))
    return hidden + weight_bytes(p) + 1.0 * p.batch * p.kv_len * cached_bytes(p)


def handed_bytes(p: Mla) -> Number:
    """What launches write for one another: latents, Q, K and V or Q in latent space, O."""
    tokens, keys, wide = 1.0 * p.batch * p.q_len, 1.0 * p.batch * p.kv_len, out_bytes(as_attention(p))
    q_dim, latent = NOPE_DIM + p.rope_dim, p.kv_lora_rank + p.rope_dim
    own = tokens * (Q_RANK + latent + p.heads * (q_dim + V_DIM))
    if p.absorbed:
        return wide * (own + tokens * p.heads * (latent + p.kv_lora_rank))
    return wide * (own + keys * p.heads * (q_dim + V_DIM))


def side_bytes(p: Mla) -> Number:
    """Traffic of the launches between: they normalise latents, rotate, put keys together, and quantise."""
    tokens, keys, wide = 1.0 * p.batch * p.q_len, 1.0 * p.batch * p.kv_len, out_bytes(as_attention(p))
    moved = 2.0 * wide * tokens * (Q_RANK + p.kv_lora_rank + p.rope_dim + p.heads * p.rope_dim)
    if not p.absorbed:
        moved = moved + 2.0 * wide * keys * p.heads * (NOPE_DIM + p.rope_dim)
    narrow = (p.proj_dtype or p.dtype).bytes
    if narrow < wide:
        inputs = tokens * (HIDDEN + Q_RANK + p.heads * V_DIM) + (0.0 if p.absorbed else keys * p.kv_lora_rank)
        moved = moved + (wide + narrow) * inputs
    return moved


def dram_bytes(p: Mla, gpu: GPU) -> Number:
    """Beside the compulsory bytes: what L2 cannot hold of what launches hand on, and what products read again."""
    spilled = 2.0 * maximum(handed_bytes(p) - gpu.l2_bytes, 0.0) + side_bytes(p) * missed_share(handed_bytes(p), gpu)
    calls = [as_gemm(x) for x in projections(p)]
    return spilled + sum(gemm.dram_bytes(call, gpu) - gemm.compulsory_bytes(call) for call in calls)


def projection_s(x: Projection, gpu: GPU) -> Number:
    """Seconds of one product on the slowest pipe but DRAM, at published rates, as the GEMM family has it."""
    g = gemm.decompose(as_gemm(x), gpu)
    busiest = busiest_sm_tasks(g.count, gpu.num_sms)
    fma_rate = gpu.other_fma_flop_per_clk_per_sm(x.dtype)
    clocks = maximum(g.tensor_flop / gpu.flop_per_clk_per_sm(x.dtype), g.fma_flop / fma_rate)
    clocks = maximum(clocks, g.shared_bytes / gpu.shared_bytes_per_clk_per_sm)
    own_s = maximum(clocks / gpu.clock_hz, g.port_bytes / gpu.l2_port_bytes_per_s)
    pool_s = g.count * (g.load_bytes + g.store_bytes) / gpu.l2_bytes_per_s
    return maximum(busiest * own_s, pool_s) + g.reduction_s


def tasks(p: Mla, core: TaskGroups, gpu: GPU) -> TaskGroups:
    """The core, then the projections: the time of each on its own slowest pipe, all as work of the one that multiplies.

    Were their work listed by pipe, a change of tile could make a pipe's sum fall where sizes grow.
    """
    core.then = as_launch(sum(projection_s(x, gpu) for x in projections(p)), p.dtype, gpu)
    core.before_s = core.before_s + side_s(side_bytes(p), handed_bytes(p), gpu)
    return core


def as_launch(seconds: Number, dtype: DType, gpu: GPU) -> TaskGroups:
    """So much time of all SMs as work of the pipe that multiplies."""
    work = seconds * (gpu.flop_per_clk_per_sm(dtype) * gpu.clock_hz)
    tensor = gpu.math_pipe(dtype) == "tensor"
    return TaskGroups(
        count=float(gpu.num_sms),
        tensor_flop=work if tensor else 0.0,
        fma_flop=0.0 if tensor else work,
        sm_max_tasks=1.0,
    )


def as_gemm(x: Projection) -> Gemm:
    """A call of the GEMM family, without checking extents again."""
    call = object.__new__(Gemm)
    given = {"m": x.rows, "n": x.n, "k": x.k, "batch": x.batch, "dtype": x.dtype, "engine": "plain", "kernel": "plain"}
    for name in Gemm.__slots__:
        object.__setattr__(call, name, given.get(name))
    object.__setattr__(call, "out_dtype", unquantised(x.dtype) if x.dtype.bytes >= 2 else DType.BF16)
    return call
