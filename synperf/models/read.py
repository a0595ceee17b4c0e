"""A config.json -> a model, by what the catalog says of its architecture."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import FieldError, UnknownNameError, UnsupportedError
from ..hardware import DType
from . import catalog
from .config import Config, load
from .description import Embeddings, Head, Layer, Model
from .feeds import Experts, Feed, Mlp
from .fields import Fields
from .mixers import DeltaNet, GroupedAttention, Indexer, LatentAttention, Mixer
from .quantisation import Quantisation, quantisation_of
from .traits import ExpertTraits, Flag, Traits

_DTYPES = {"float32": DType.FP32, "float16": DType.FP16, "bfloat16": DType.BF16, "half": DType.FP16}
_ACTIVATIONS = {  # names of transformers -> silu, gelu or relu
    "silu": "silu", "swish": "silu", "swiglu": "silu", "swigluoai": "silu", "swiglu_oai": "silu", "relu": "relu",
    "gelu": "gelu", "gelu_new": "gelu", "gelu_fast": "gelu", "gelu_pytorch_tanh": "gelu", "geglu": "gelu",
}  # fmt: skip
_USUAL = ("num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size", "vocab_size")
_SLIDING, _LINEAR = ("sliding_attention", "chunked_attention"), "linear_attention"


def model(source: str | Path | Model) -> Model:
    """The model of a config.json: its path, its folder, or a name of the catalog such as `Qwen/Qwen3-32B`.

    Raises:
        UnknownNameError: neither a path nor a name of the catalog.
        FileFormatError: no such file, or not JSON.
        UnsupportedError: an architecture, or a way to quantise, that is not known.
        FieldError: a field is missing, or not what it should be.
    """
    if isinstance(source, Model):
        return source
    if isinstance(source, Path):
        return of_config(load(source))
    if not isinstance(source, str) or not source.strip():
        raise FieldError(f"model: {str(source)[:60]!r} is not a name or a path")
    config = load(source.strip())
    return _of_catalog(config.name) if config.where == config.name else of_config(config)


@lru_cache(maxsize=64)
def _of_catalog(name: str) -> Model:
    return of_config(load(name))


def of_config(config: Config) -> Model:
    """The model of a config.json that was loaded.

    Raises: as `model`.
    """
    architecture = _architecture(config)
    traits = catalog.architectures()[architecture]
    f = Fields(config.values, traits.names, traits.defaults, config.where)
    bare, quantisation = _model(config, architecture, traits, f), quantisation_of(config)
    f.require(architecture)
    _check(bare, f)
    return _stored(bare, quantisation)


def _architecture(config: Config) -> str:
    """The name of the architecture.

    Raises:
        FieldError: there is none.
        UnsupportedError: it is not known; the message has the usual fields that it lacks.
    """
    given = config.values.get("architectures")
    if not isinstance(given, list) or not given or not isinstance(given[0], str):
        raise FieldError(f'{config.where}: architectures is missing; right would be a list such as ["LlamaForCausalLM"]')
    known = catalog.architectures()
    if given[0] in known:
        return given[0]
    near = UnknownNameError.among("architecture", given[0], known)
    lacks = [name for name in _USUAL if config.values.get(name) is None]
    said = f"it lacks {', '.join(lacks)}" if lacks else "it has the usual fields; one that is built alike may stand in"
    raise UnsupportedError(f"{config.where}: {near}; {said}")


def _model(config: Config, architecture: str, traits: Traits, f: Fields) -> Model:
    layers = f.whole("num_hidden_layers")
    kinds: dict[Layer, int] = {}
    mixers = _mixers(traits, f)
    feeds = _feeds(traits, f)
    order = []
    for index in range(layers):
        layer = Layer(mixer=mixers[_mixes(traits, f, index)], feed=feeds[_chooses(traits, f, index)])
        order.append(kinds.setdefault(layer, len(kinds)))
    positions = f.whole("max_position_embeddings", 0, 0)
    return Model(
        name=config.name,
        architecture=architecture,
        hidden=f.whole("hidden_size"),
        kinds=tuple(kinds),
        order=tuple(order),
        embeddings=Embeddings(
            vocab=f.whole("vocab_size"),
            positions=positions + traits.position_offset if traits.learned_positions else 0,
            types=f.whole("type_vocab_size", 0, 0),
            normed=traits.embedding_norm,
        ),
        head=Head(
            kind=traits.head,
            tied=f.truth("tie_word_embeddings"),
            bias=_flag(traits.head_bias, f),
            final_norm=traits.norms != "post",
        ),
        norm=traits.norm,
        norms=traits.norms,
        dtype=_dtype(f),
        max_positions=positions,
        assumptions=(*config.assumptions, *_unread(f)),
    )


def _unread(f: Fields) -> tuple[str, ...]:
    """Sentences on parts that are stored but do not run in a step."""
    extra = f.whole("num_nextn_predict_layers", 0, 0) or f.whole("mtp_num_hidden_layers", 0, 0)
    return (f"model: {extra} layer(s) that predict further tokens are left out",) if extra else ()


def _flag(flag: Flag, f: Fields) -> bool:
    return flag if isinstance(flag, bool) else f.truth(flag)


def _dtype(f: Fields) -> DType:
    """The format of what is not quantised; bf16 where the file does not say.

    Raises:
        FieldError: it is none of those that are known.
    """
    name = "dtype" if f.get("torch_dtype") is None else "torch_dtype"
    given = f.text(name).removeprefix("torch.")
    if given and given not in _DTYPES:
        raise f.wrong(name, f"one of {', '.join(_DTYPES)}")
    return _DTYPES[given] if given else DType.BF16


def _activation(f: Fields) -> str:
    given = f.text("hidden_act") or "silu"
    if given not in _ACTIVATIONS:
        raise f.wrong("hidden_act", f"one of {', '.join(_ACTIVATIONS)}")
    return _ACTIVATIONS[given]


def _mixers(traits: Traits, f: Fields) -> dict[str, Mixer]:
    """Ways in which layers mix tokens, by the word of `layer_types`."""
    if traits.mixer == "latent":
        return {"full": _latent(f)}
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


def _mixes(traits: Traits, f: Fields, index: int) -> str:
    """How the layer of that index mixes tokens: `layer_types` says it, else what the architecture does."""
    types = f.items("layer_types")
    if index < len(types):
        if traits.mixer == "latent":
            return "full"
        kind = types[index]
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
        qkv_bias=_flag(traits.qkv_bias, f),
        out_bias=_flag(traits.out_bias, f),
        qk_norm=traits.qk_norm if normed else "",
        gated=traits.gated_attention,
        sinks=traits.sinks,
    )


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


def _feeds(traits: Traits, f: Fields) -> dict[bool, Feed]:
    """What layers do with single tokens, by whether they choose experts."""
    e = traits.experts
    if e is None:
        return {False: _mlp(traits, f, f.whole("intermediate_size"))}
    experts = _experts(traits, e, f)
    if not (e.first or e.step or f.items("mlp_only_layers")):
        return {True: experts}
    return {True: experts, False: _mlp(traits, f, f.whole("intermediate_size"))}


def _chooses(traits: Traits, f: Fields, index: int) -> bool:
    """Whether the layer of that index has experts."""
    e = traits.experts
    if e is None or index in f.items("mlp_only_layers"):
        return False
    after = index >= (f.whole(e.first, 0, 0) if e.first else 0)
    return after and (not e.step or (index + 1) % f.whole(e.step, 1) == 0)


def _mlp(traits: Traits, f: Fields, inter: int) -> Mlp:
    return Mlp(inter=inter, gated=traits.gated, activation=_activation(f), bias=_flag(traits.mlp_bias, f))


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
        corrected=_flag(e.corrected, f),
        shared=_mlp(traits, f, shared) if shared else None,
        shared_gate=e.shared_gate and shared > 0,
    )


def _check(found: Model, f: Fields) -> None:
    """Checks that fields go with one another.

    Raises:
        FieldError: they do not.
    """
    for layer in found.kinds:
        mixer, feed = layer.mixer, layer.feed
        if isinstance(mixer, GroupedAttention) and mixer.heads % mixer.kv_heads:
            raise f.wrong("num_key_value_heads", f"a divisor of the {mixer.heads} heads")
        if isinstance(mixer, DeltaNet) and mixer.value_heads % mixer.key_heads:
            raise f.wrong("linear_num_key_heads", f"a divisor of the {mixer.value_heads} heads of values")
        if isinstance(feed, Experts) and feed.topk > feed.experts:
            raise f.wrong("num_experts_per_tok", f"up to the {feed.experts} experts")


def _stored(bare: Model, quantisation: Quantisation | None) -> Model:
    """The model with layers whose weights are stored as the checkpoint says."""
    if quantisation is None:
        return bare
    kinds: dict[Layer, int] = {}
    order = []
    for index, kind in enumerate(bare.order):
        layer = bare.kinds[kind]
        schemes = quantisation.schemes(index, bare.layer_weights(layer))
        order.append(kinds.setdefault(replace(layer, schemes=schemes), len(kinds)))
    return replace(bare, kinds=tuple(kinds), order=tuple(order), kv_dtype=quantisation.kv_dtype)
