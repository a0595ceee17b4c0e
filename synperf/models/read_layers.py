"""Layers from the fields of a config.json: how they mix tokens, and what they do with each."""

from __future__ import annotations

from dataclasses import replace

from .feeds import Experts, Feed, Mlp
from .fields import Fields
from .mixers import DeltaNet, GroupedAttention, Indexer, LatentAttention, Mixer
from .traits import ExpertTraits, Flag, Traits

_ACTIVATIONS = {  # names of transformers -> silu, gelu or relu
    "silu": "silu", "swish": "silu", "swiglu": "silu", "swigluoai": "silu", "swiglu_oai": "silu", "relu": "relu",
    "gelu": "gelu", "gelu_new": "gelu", "gelu_fast": "gelu", "gelu_pytorch_tanh": "gelu", "geglu": "gelu",
}  # fmt: skip
_SLIDING, _LINEAR = ("sliding_attention", "chunked_attention"), "linear_attention"


def flag(given: Flag, f: Fields) -> bool:
    """Whether a trait holds: always, never, or as a field says.

    Raises:
        FieldError: that field is neither true nor false.
    """
    return given if isinstance(given, bool) else f.truth(given)


def _activation(f: Fields) -> str:
    given = f.text("hidden_act") or "silu"
    if given not in _ACTIVATIONS:
        raise f.wrong("hidden_act", f"one of {', '.join(_ACTIVATIONS)}")
    return _ACTIVATIONS[given]


def mixers(traits: Traits, f: Fields) -> dict[str, Mixer]:
    """Ways in which layers mix tokens, by the word of `layer_types`."""
    if traits.mixer == "latent":
        return _latents(f)
    full = _grouped(traits, f)
    found: dict[str, Mixer] = {"full": full}
    window = f.whole("sliding_window", 0, 0)
    if window and (not traits.sliding_if or f.truth(traits.sliding_if)):
        found["sliding"] = replace(full, window=window)
    if traits.mixer == "delta":
        found["linear"] = DeltaNet(
            key_heads=f.whole("linear_num_key_heads"),
            value_heads=f.whole("linear_num_value_heads"),
            key_dim=f.whole("linear_key_head_dim"),
            value_dim=f.whole("linear_value_head_dim"),
            taps=f.whole("linear_conv_kernel_dim"),
        )
    return {"sliding": full, **found}


def mixes(traits: Traits, f: Fields, index: int) -> str:
    """How the layer of that index mixes tokens: `layer_types` says it, else what the architecture does.

    Raises:
        FieldError: it says linear attention of an architecture that has none.
    """
    if traits.mixer == "latent":
        return "shared" if f.items("indexer_types")[index : index + 1] == ["shared"] else "full"
    types = f.items("layer_types")
    if index < len(types):
        kind = types[index]
        if kind == _LINEAR and traits.mixer != "delta":
            raise f.wrong("layer_types", "a list without linear_attention, which the architecture has not")
        return "linear" if kind == _LINEAR else "sliding" if kind in _SLIDING else "full"
    if traits.mixer == "delta":
        return "full" if (index + 1) % f.whole("full_attention_interval") == 0 else "linear"
    if traits.sliding == "even":
        return "full" if index % 2 else "sliding"
    if isinstance(traits.sliding, int):
        return "full" if (index + 1) % f.whole("sliding_window_pattern", traits.sliding) == 0 else "sliding"
    return "sliding" if traits.sliding == "every" else "full"


def _grouped(traits: Traits, f: Fields) -> GroupedAttention:
    heads, hidden = f.whole("num_attention_heads"), f.whole("hidden_size")
    if f.get("head_dim") is None and hidden % heads:
        raise f.wrong("hidden_size", f"a multiple of {f.spelled('num_attention_heads')} or have head_dim beside it")
    head_dim = f.whole("head_dim", hidden // heads)
    rotary = f.whole("rotary_dim", int(head_dim * f.ratio("partial_rotary_factor", 1.0)), 0)
    normed = traits.qk_norm and (not traits.qk_norm_if or f.truth(traits.qk_norm_if))
    return GroupedAttention(
        heads=heads,
        kv_heads=f.whole("num_key_value_heads", heads),
        head_dim=head_dim,
        v_head_dim=f.whole("v_head_dim", head_dim),
        causal=traits.causal,
        rotary_dim=rotary // 2 * 2 if traits.rotates else 0,
        qkv_bias=flag(traits.qkv_bias, f),
        out_bias=flag(traits.out_bias, f),
        qk_norm=traits.qk_norm if normed else "",
        gated=traits.gated_attention,
        sinks=traits.sinks,
    )


def _latents(f: Fields) -> dict[str, Mixer]:
    full = _latent(f)
    if full.indexer is None:
        return {"full": full, "shared": full}
    return {"full": full, "shared": replace(full, indexer=replace(full.indexer, shared=True))}


def _latent(f: Fields) -> LatentAttention:
    topk = f.whole("index_topk", 0, 0)
    indexer = Indexer(heads=f.whole("index_n_heads"), dim=f.whole("index_head_dim"), topk=topk) if topk else None
    return LatentAttention(
        heads=f.whole("num_attention_heads"),
        q_rank=f.whole("q_lora_rank", 0, 0),
        kv_rank=f.whole("kv_lora_rank"),
        nope_dim=f.whole("qk_nope_head_dim"),
        rope_dim=f.whole("qk_rope_head_dim"),
        v_dim=f.whole("v_head_dim"),
        indexer=indexer,
    )


def feeds(traits: Traits, f: Fields) -> dict[bool, Feed]:
    """What layers do with single tokens, by whether they choose experts."""
    e = traits.experts
    if e is None:
        return {False: _mlp(traits, f, f.whole("intermediate_size"))}
    experts = _experts(traits, e, f)
    if not (e.first or e.step or f.items("mlp_only_layers")):
        return {True: experts}
    return {True: experts, False: _mlp(traits, f, f.whole(e.dense_inter))}


def chooses(traits: Traits, f: Fields, index: int) -> bool:
    """Whether the layer of that index has experts."""
    e = traits.experts
    if e is None or index in f.items("mlp_only_layers"):
        return False
    after = index >= (f.whole(e.first, 0, 0) if e.first else 0)
    return after and (not e.step or (index + 1) % f.whole(e.step, 1) == 0)


def _mlp(traits: Traits, f: Fields, inter: int) -> Mlp:
    return Mlp(inter=inter, gated=traits.gated, activation=_activation(f), bias=flag(traits.mlp_bias, f))


def _experts(traits: Traits, e: ExpertTraits, f: Fields) -> Experts:
    inter = f.whole(e.inter)
    shared = inter * f.whole(e.shared, 0, 0) if e.shared else f.whole(e.shared_inter, 0, 0) if e.shared_inter else 0
    return Experts(
        experts=f.whole(e.experts),
        topk=f.whole(e.topk),
        inter=inter,
        gated=traits.gated,
        activation=_activation(f),
        bias=e.bias,
        router_bias=e.router_bias,
        corrected=flag(e.corrected, f),
        shared=_mlp(traits, f, shared) if shared else None,
        shared_gate=e.shared_gate and shared > 0,
    )
