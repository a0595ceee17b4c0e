"""Linear attention: the chunked scan of Mamba-2 and of gated delta rules, their recurrent step, their convolution.

A scan is two sets of tasks: the products within each chunk, all at once, and the chain of products with the state,
chunk after chunk, of which a CTA has some columns for one head. A recurrent step is one pass over the states.
"""

from __future__ import annotations

from dataclasses import replace

from ..hardware import GPU, DType
from ..numeric import Number, ceil_div, maximum, minimum
from ..scheduling import TaskGroups, occupancy
from .base import KernelFamily, Launch
from .linear_attention_call import LinearAttention, default_kernel
from .linear_attention_inputs import STEPPED, TOKENS, inputs
from .linear_attention_traits import Style, style
from .linear_attention_work import (
    between_bytes,
    chunks,
    compulsory_bytes,
    flop,
    intra_flop,
    least_flop,
    state_flop,
    state_values,
    token_bytes,
    weight_bytes,
)

_THREADS, _REGISTERS = 128, 128  # of a CTA of Triton's: four warps; an estimate of its accumulators


def _style(p: LinearAttention, gpu: GPU) -> Style:
    return style(gpu, p.dtype, p.engine, p.kernel)


def decompose(p: LinearAttention, gpu: GPU) -> TaskGroups:
    """CTAs of the call; those of the chain of states start when the products within chunks are done."""
    k = _style(p, gpu)
    if p.convolves:
        blocks = ceil_div(p.channels, k.columns)
        count, own = p.batch * ceil_div(1.0 * p.seq_len, TOKENS) * blocks, minimum(1.0 * p.seq_len, float(TOKENS))
        state = state_values(p) * k.state_bytes / (p.batch * blocks)
        return _moving(p, gpu, count, own * token_bytes(p) / blocks + weight_bytes(p) / blocks + state)
    chains = p.batch * p.heads * ceil_div(1.0 * p.head_dim, k.columns)
    if p.phase == "decode":
        return _moving(p, gpu, chains, compulsory_bytes(p) / chains)
    return _within_chunks(p, gpu, k, _chain(p, gpu, chains))


def _moving(p: LinearAttention, gpu: GPU, count: Number, moved: Number) -> TaskGroups:
    """CTAs that pass once over what there is to read and write, in fp32; each moves as much as a full one."""
    whole = p.batch * ceil_div(1.0 * p.seq_len, TOKENS) * minimum(1.0 * p.seq_len, float(TOKENS)) / p.tokens
    return TaskGroups(
        count=count,
        fma_flop=whole * flop(p) / count,
        load_bytes=moved / 2.0,
        store_bytes=moved / 2.0,
        port_bytes=moved,
        shared_bytes=moved,
        ctas_per_sm=_resident(gpu),
        reduction_s=_style(p, gpu).after_s,
    )


def _within_chunks(p: LinearAttention, gpu: GPU, k: Style, then: TaskGroups) -> TaskGroups:
    """A CTA for each chunk and head; tiles are whole chunks, however short the last one is."""
    count = p.batch * chunks(p) * p.heads
    rows = p.batch * chunks(p) * minimum(1.0 * p.seq_len, 1.0 * p.chunk)
    handed = between_bytes(p, rows) if k.chains else 0.0
    moved = (rows * p.channels * p.dtype.bytes + handed) / count
    return TaskGroups(
        count=count,
        tensor_flop=p.batch * chunks(p) * intra_flop(p, 1.0 * p.chunk) / count,
        load_bytes=moved / 2.0,
        store_bytes=moved / 2.0,
        port_bytes=moved,
        shared_bytes=moved,
        ctas_per_sm=_resident(gpu),
        reduction_s=k.after_s,
        then=then,
    )


def _chain(p: LinearAttention, gpu: GPU, count: Number) -> TaskGroups:
    """A CTA for some columns of the state of a head, over all of its chunks one after the other."""
    rows = p.batch * chunks(p) * p.chunk
    moved = maximum(compulsory_bytes(p) - p.tokens * p.channels * p.dtype.bytes, 0.0) / count
    keys = p.tokens * p.heads * p.state_dim * p.dtype.bytes / (p.batch * p.heads)
    return TaskGroups(
        count=count,
        tensor_flop=rows * p.heads * state_flop(p) / count,
        load_bytes=keys + moved / 2.0,
        store_bytes=moved / 2.0,
        port_bytes=keys + moved,
        shared_bytes=keys + moved,
        ctas_per_sm=_resident(gpu),
    )


def _resident(gpu: GPU) -> float:
    return float(occupancy(gpu, _THREADS, _REGISTERS, 0).ctas_per_sm)


def dram_bytes(p: LinearAttention, gpu: GPU) -> Number:
    """Compulsory bytes, and what launches hand on as far as L2 does not hold it."""
    if p.convolves or p.phase == "decode" or not _style(p, gpu).chains:
        return compulsory_bytes(p)
    handed = between_bytes(p, p.tokens)
    missed = minimum(maximum(handed / gpu.l2_bytes - 1.0, 0.0), 1.0)
    return compulsory_bytes(p) + missed * handed


def launch(p: LinearAttention, gpu: GPU) -> Launch:
    """Grid and resources of the first launch, and how many there are."""
    count, k = int(decompose(p, gpu).count), _style(p, gpu)
    choice = (
        {"state_columns": k.columns} if not p.convolves else {"channels_per_cta": k.columns, "tokens_per_cta": TOKENS}
    )
    return Launch(
        tiles=count,
        grid=(count, 1, 1),
        persistent=False,
        threads=_THREADS,
        registers=_REGISTERS,
        shared_bytes=0,
        occupancy=occupancy(gpu, _THREADS, _REGISTERS, 0),
        choice=choice,
        choice_source=f"{k.kernel}'s",
        facts={"launches": float(k.launches), "chunks": float(chunks(p))},
    )


def assumptions(p: LinearAttention, gpu: GPU) -> tuple[str, ...]:
    """What is in the time, and what is not."""
    k = _style(p, gpu)
    if p.convolves:
        return ("kernel: the short convolution alone, without the scan",)
    return (
        f"kernel: the scan alone in {k.launches} launch{'es' if k.launches > 1 else ''}, without the short convolution",
    )


def math(p: LinearAttention) -> DType:
    """Chunks are multiplied in the call's format, states of single tokens and short convolutions in fp32."""
    return DType.FP32 if p.convolves or p.phase == "decode" else p.dtype


def variant(p: LinearAttention) -> str:
    """Scans have a network for each kind of state and phase, convolutions one for each phase; KDA's, which engines run
    on other layouts, their own.
    """
    if not p.convolves:
        return f"{p.variant}_{p.phase}"
    return f"conv_kda_{p.phase}" if p.variant == "kda" else f"conv_{p.phase}"


def _shipped_at(p: LinearAttention) -> dict[str, int]:
    """Scans and steps were measured at heads of 128 x 128 alone, in chunks of 64; convolutions at others too."""
    return {} if p.convolves else _MEASURED


_MEASURED = {"head_dim": 128, "state_dim": 128, "chunk": 64}  # of gdn_perf and kda_perf
_EXAMPLE = LinearAttention(variant="gdn", batch=4, seq_len=4096, heads=32, head_dim=128, state_dim=128, groups=16)
_STEP = LinearAttention(
    variant="gdn", batch=64, seq_len=1, heads=32, head_dim=128, state_dim=128, groups=16, phase="decode"
)
_CONV = LinearAttention(
    variant="gdn", batch=4, seq_len=4096, heads=32, head_dim=128, state_dim=128, groups=16, kernel="causal_conv1d"
)
_CONV_STEP = LinearAttention(
    variant="gdn", batch=64, seq_len=1, heads=32, head_dim=128, state_dim=128, groups=16, phase="decode",
    kernel="causal_conv1d",
)  # fmt: skip
_KDA_CONV, _KDA_CONV_STEP = (replace(call, variant="kda") for call in (_CONV, _CONV_STEP))
FAMILY = KernelFamily(
    name="linear_attention",
    call_type=LinearAttention,
    decompose=decompose,
    launch=launch,
    assumptions=assumptions,
    flop=flop,
    least_flop=least_flop,
    compulsory_bytes=compulsory_bytes,
    dram_bytes=dram_bytes,
    example=_EXAMPLE,
    others=(_STEP, _CONV, _CONV_STEP, _KDA_CONV, _KDA_CONV_STEP),
    l2_saves=2.0,  # of states
    inputs=inputs,
    stepped=STEPPED,
    shape=("batch", "seq_len", "heads", "head_dim", "state_dim", "groups"),
    variant=variant,
    shipped_at=_shipped_at,
    default_kernel=lambda engine, labels: default_kernel(engine, labels["variant"], labels["phase"]),
    math=math,
    summary="Mamba-2, gated delta net, Kimi delta attention: scan of prompts, recurrent step, short convolution",
)
