"""Calls of a layer's attention over shared heads, or of the state that stands in for it."""

from __future__ import annotations

from typing import Any

from ..kernels.attention_call import Attention
from ..kernels.elementwise import Elementwise
from ..kernels.kv_append import KvAppend
from ..kernels.rmsnorm import RmsNorm
from ..kernels.rope import Rope
from ..numeric import ceil_div
from .batch import Requests
from .call_list import Calls, Pass
from .description import Layer
from .mixers import DeltaNet, GroupedAttention, LatentAttention

_CONVOLUTION = "causal_conv1d"  # the kernel of the short convolution before a scan


def mixer_calls(p: Pass, layer: Layer) -> Calls:
    """Calls from the hidden state to what the layer adds to it, the sum over ranks among them."""
    mixer = layer.mixer
    if isinstance(mixer, GroupedAttention):
        yield from _grouped(p, layer, mixer)
    elif isinstance(mixer, LatentAttention):
        from .latent_calls import latent_calls  # few models have them, and they need several families

        yield from latent_calls(p, layer, mixer)
    else:
        yield from _delta(p, layer, mixer)
    if p.plan.tp > 1:
        yield p.collective("attention_all_reduce", "all_reduce", p.tokens * p.model.hidden, p.plan.tp)


def _grouped(p: Pass, layer: Layer, a: GroupedAttention) -> Calls:
    tp, hidden = p.plan.tp, p.model.hidden
    heads, kv_heads = a.heads // tp, max(1, a.kv_heads // tp)
    yield p.gemm("qkv", layer, "self_attn.q_proj", a.q_out // tp + kv_heads * (a.head_dim + a.v_head_dim), hidden)
    if a.qk_norm:
        for name, each in (("q_norm", heads), ("k_norm", kv_heads)):
            rows, dim = (each, a.head_dim) if a.qk_norm == "head" else (1, each * a.head_dim)
            yield p.call(name, RmsNorm, rows=p.tokens * rows, dim=dim)
    if a.rotary_dim:
        yield p.call("rope", Rope, rows=p.tokens * (heads + kv_heads), dim=a.rotary_dim)
    if p.model.is_decoder:
        dim = kv_heads * (a.head_dim + a.v_head_dim) // 2
        yield p.call("kv_append", KvAppend, rows=p.tokens, dim=dim, quant_dtype=p.narrow_cache)
    for part, requests in (("prefill_attention", p.batch.prompts()), ("decode_attention", p.batch.decodes())):
        for lengths in attention_lengths(requests):
            yield p.call(
                part,
                Attention,
                heads=heads,
                kv_heads=kv_heads,
                head_dim=a.head_dim,
                v_head_dim=a.v_head_dim,
                window=a.window,
                causal=a.causal,
                kv_dtype=p.cached,
                **lengths,
            )
    if a.gated:
        yield p.call("attention_gate", Elementwise, elements=p.tokens * heads * a.v_head_dim, inputs=2)
    yield p.gemm("o", layer, "self_attn.o_proj", hidden, heads * a.v_head_dim)


def attention_lengths(requests: tuple[Requests, ...]) -> list[dict[str, Any]]:
    """Fields of the calls that attend for these requests: one call for all, unless they are columns."""
    if len(requests) < 2 or any(one.size for one in requests):
        return [{"batch": one.count, "q_len": one.q_len, "kv_len": one.kv_len} for one in requests]
    kv_lens = [one.kv_len for one in requests for _ in range(one.count)]
    if all(one.decodes for one in requests):
        return [{"q_len": 1, "kv_lens": kv_lens}]
    return [{"q_lens": [one.q_len for one in requests for _ in range(one.count)], "kv_lens": kv_lens}]


def _delta(p: Pass, layer: Layer, d: DeltaNet) -> Calls:
    from ..kernels.linear_attention_call import LinearAttention  # few models have it

    tp, hidden = p.plan.tp, p.model.hidden
    heads = d.value_heads // tp
    n = (d.channels + d.values + 2 * d.value_heads) // tp
    yield p.gemm("linear_in", layer, "linear_attn.in_proj_qkv", n, hidden)
    sizes = {"heads": heads, "head_dim": d.value_dim, "state_dim": d.key_dim, "groups": d.key_heads // tp}
    for phase, requests in (("prefill", p.batch.prompts()), ("decode", p.batch.decodes())):
        if requests:
            count = sum(one.count for one in requests)
            seq_len = ceil_div(sum(one.tokens for one in requests), count)
            lengths = {"variant": "gdn", "batch": count, "seq_len": seq_len, "phase": phase, **sizes}
            yield p.call(f"{phase}_convolution", LinearAttention, kernel=_CONVOLUTION, taps=d.taps, **lengths)
            yield p.call(f"{phase}_state", LinearAttention, **lengths)
    yield p.call("state_norm", RmsNorm, rows=p.tokens * heads, dim=d.value_dim)
    yield p.gemm("linear_out", layer, "linear_attn.out_proj", hidden, d.values // tp)
