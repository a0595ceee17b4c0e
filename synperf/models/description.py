"""A model: its layers, what stands before and after them, and how its checkpoint stores all that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..hardware import DType
from .feeds import Feed
from .mixers import Mixer
from .schemes import Scheme
from .weights import Kind, Share, Weight, linear, vector

LayerNorms = Literal["pre", "post", "sandwich", "parallel"]
_NORMS_OF = {  # names of the norms of a layer
    "pre": ("input_layernorm", "post_attention_layernorm"),
    "post": ("post_attention_layernorm", "post_feedforward_layernorm"),
    "sandwich": (
        "input_layernorm",
        "post_attention_layernorm",
        "pre_feedforward_layernorm",
        "post_feedforward_layernorm",
    ),
    "parallel": ("input_layernorm",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer; `schemes` has how its quantised weights are stored, by name: others are as the model's `dtype`."""

    mixer: Mixer
    feed: Feed
    schemes: tuple[tuple[str, Scheme], ...] = ()

    def scheme(self, name: str) -> Scheme | None:
        """How a weight is stored, None where it is not quantised."""
        return next((scheme for known, scheme in self.schemes if known == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Embeddings:
    """Tables that tokens are looked up in; `positions` and `types` are rows of learned ones, 0 where there are none."""

    vocab: int
    positions: int = 0
    types: int = 0
    normed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What comes after the last layer.

    `kind` is `lm` (logits of the last token of a sequence), `masked_lm` (of every token, after a projection of its
    own), `pooler` (a projection of the first token) or `none`. `tied` ones use the table of the embeddings.
    """

    kind: Literal["lm", "masked_lm", "pooler", "none"] = "lm"
    tied: bool = False
    bias: bool = False
    final_norm: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What a config.json describes. `dtype` is the format of what is not quantised, `kv_dtype` that of the cache.

    `kinds` are the layers that differ, `order` has the index of each layer's kind, from the first layer to the last.
    `norms` says where a layer normalises: before its halves (`pre`), after them (`post`), both (`sandwich`), or once
    for two halves side by side (`parallel`). `norm` is `rms` or `layer`.
    """

    name: str
    architecture: str
    hidden: int
    kinds: tuple[Layer, ...]
    order: tuple[int, ...]
    embeddings: Embeddings
    head: Head
    norm: Literal["rms", "layer"] = "rms"
    norms: LayerNorms = "pre"
    dtype: DType = DType.BF16
    kv_dtype: DType | None = None
    max_positions: int = 0
    assumptions: tuple[str, ...] = ()

    @property
    def num_layers(self) -> int:
        """Layers, each as often as it stands in the model."""
        return len(self.order)

    def distinct(self, layers: range | None = None) -> tuple[tuple[Layer, int], ...]:
        """Layers that differ, in their order, each with how many there are: of these, or of all."""
        order = self.order if layers is None else self.order[layers.start : layers.stop]
        return tuple((self.kinds[kind], count) for kind, count in Counter(order).items())

    def norm_weights(self, name: str) -> Iterator[Weight]:
        """A norm over the hidden state."""
        yield vector(f"{name}.weight", self.hidden)
        if self.norm == "layer":
            yield vector(f"{name}.bias", self.hidden)

    def layer_weights(self, layer: Layer) -> Iterator[Weight]:
        """Tensors of one layer."""
        for name in _NORMS_OF[self.norms]:
            yield from self.norm_weights(name)
        yield from layer.mixer.weights(self.hidden)
        yield from layer.feed.weights(self.hidden)

    def first_weights(self) -> Iterator[Weight]:
        """What stands before the layers: tables, and their norm."""
        e = self.embeddings
        yield Weight("embed_tokens.weight", e.vocab, self.hidden, kind=Kind.WIDE, share=Share.TENSOR)
        for name, rows in (("embed_positions", e.positions), ("token_type_embeddings", e.types)):
            if rows:
                yield Weight(f"{name}.weight", rows, self.hidden, kind=Kind.WIDE)
        if e.normed:
            yield from self.norm_weights("embeddings.LayerNorm")

    def last_weights(self) -> Iterator[Weight]:
        """What stands after the layers: the last norm, and the head. A tied table is counted with the embeddings."""
        if self.head.final_norm:
            yield from self.norm_weights("norm")
        if self.head.kind in ("pooler", "masked_lm"):
            for weight in linear("head.dense", self.hidden, self.hidden, Share.WHOLE, bias=True):
                yield weight._replace(kind=Kind.VECTOR if weight.k == 1 else Kind.WIDE)
        if self.head.kind == "masked_lm":
            yield from self.norm_weights("head.LayerNorm")
        if self.has_logits:
            if not self.head.tied:
                yield Weight("lm_head.weight", self.embeddings.vocab, self.hidden, kind=Kind.WIDE, share=Share.TENSOR)
            if self.head.bias:
                yield vector("lm_head.bias", self.embeddings.vocab)

    @property
    def has_logits(self) -> bool:
        """Whether the last projection is to the vocabulary."""
        return self.head.kind in ("lm", "masked_lm")

    @property
    def is_decoder(self) -> bool:
        """Whether it writes one token after another."""
        return self.head.kind == "lm"
