"""A config.json -> a model, by what the catalog says of its architecture."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ..errors import FieldError, UnknownNameError, UnsupportedError
from ..hardware import DType
from . import catalog
from .config import Config, load
from .description import Embeddings, Head, Layer, Model
from .feeds import Experts
from .fields import Fields
from .mixers import DeltaNet, GroupedAttention
from .quantisation import Quantisation, quantisation_of
from .read_layers import chooses, feeds, flag, mixers, mixes
from .traits import Traits

MOST_LAYERS = 10_000
_DTYPES = {"float32": DType.FP32, "float16": DType.FP16, "bfloat16": DType.BF16, "half": DType.FP16}
_USUAL = ("num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size", "vocab_size")


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
        raise FieldError(
            f'{config.where}: architectures is missing; right would be a list such as ["LlamaForCausalLM"]'
        )
    known = catalog.architectures()
    if given[0] in known:
        return given[0]
    near = UnknownNameError.among("architecture", given[0], known)
    lacks = [name for name in _USUAL if config.values.get(name) is None]
    said = f"it lacks {', '.join(lacks)}" if lacks else "it has the usual fields; one that is built alike may stand in"
    raise UnsupportedError(f"{config.where}: {near}; {said}")


def _model(config: Config, architecture: str, traits: Traits, f: Fields) -> Model:
    layers = f.whole("num_hidden_layers", most=MOST_LAYERS)
    kinds: dict[Layer, int] = {}
    mixing, feeding = mixers(traits, f), feeds(traits, f)
    order = []
    for index in range(layers):
        layer = Layer(mixer=mixing[mixes(traits, f, index)], feed=feeding[chooses(traits, f, index)])
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
            bias=flag(traits.head_bias, f),
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
