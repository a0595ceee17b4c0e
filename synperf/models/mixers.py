"""How tokens of a layer see each other: attention over shared heads, over latents, or a state that goes along.

Sizes are those of the whole model. `kv_values` counts what the cache keeps of a token, in values of its format.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .weights import Kind, Share, Weight, linear, vector

INDEX_SCALE_BYTES = 4  # fp32, one for each indexed key. Source: vllm, indexer cache of 132 bytes for 128 values
STATE_BYTES = 4  # states of linear attention are fp32 (`mamba_ssm_dtype`)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedAttention:
    """Attention whose `heads` of queries share `kv_heads` of keys and values; `window` keys are seen, 0 is all.

    `qk_norm` normalises every head ("head"), or all heads together ("all"), of queries and keys. `rotary_dim` values of
    a head are rotated. `gated` multiplies the result by a gate that the query projection computes too; `sinks` have a
    logit per head.
    """

    heads: int
    kv_heads: int
    head_dim: int
    v_head_dim: int
    window: int = 0
    causal: bool = True
    rotary_dim: int = 0
    qkv_bias: bool = False
    out_bias: bool = False
    qk_norm: str = ""
    gated: bool = False
    sinks: bool = False

    @property
    def q_out(self) -> int:
        """Values of a token that the query projection computes."""
        return self.heads * self.head_dim * (2 if self.gated else 1)

    def kv_values(self) -> int:
        """Keys and values of one token."""
        return self.kv_heads * (self.head_dim + self.v_head_dim)

    @property
    def most_keys(self) -> int:
        """How many keys a query sees at most, 0 where all."""
        return self.window

    def flop_per_key(self) -> int:
        """FLOP of a query and a key that it sees, of all heads: the score, and the value weighed by it."""
        return 2 * self.heads * (self.head_dim + self.v_head_dim)

    def flop_per_token(self) -> int:
        """FLOP of a token beside its projections, however many keys it sees."""
        return 0

    def flop_per_scored_key(self) -> int:
        """FLOP of a key that an indexer scores."""
        return 0

    def weights(self, hidden: int) -> Iterator[Weight]:
        """Projections, norms of queries and keys, sinks."""
        few = self.kv_heads
        yield from linear("self_attn.q_proj", self.q_out, hidden, Share.TENSOR, bias=self.qkv_bias)
        for name, dim in (("k_proj", self.head_dim), ("v_proj", self.v_head_dim)):
            yield from linear(f"self_attn.{name}", few * dim, hidden, Share.TENSOR, bias=self.qkv_bias, most_ranks=few)
        yield from linear("self_attn.o_proj", hidden, self.heads * self.v_head_dim, Share.TENSOR, bias=self.out_bias)
        if self.qk_norm:
            of_all = self.qk_norm == "all"
            yield vector("self_attn.q_norm.weight", self.head_dim * (self.heads if of_all else 1))
            yield vector("self_attn.k_norm.weight", self.head_dim * (self.kv_heads if of_all else 1))
        if self.sinks:
            yield vector("self_attn.sinks", self.heads)


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexer:
    """Chooses the `topk` keys that a query of sparse attention sees, by `heads` of queries over one indexed key.

    A layer whose indexer is `shared` takes the choice of the layer before.
    """

    heads: int
    dim: int
    topk: int
    shared: bool = False

    def weights(self, hidden: int, q_rank: int) -> Iterator[Weight]:
        """Every rank holds all of it."""
        if self.shared:
            return
        yield from linear("self_attn.indexer.wq_b", self.heads * self.dim, q_rank, Share.WHOLE)
        yield from linear("self_attn.indexer.wk", self.dim, hidden, Share.WHOLE)
        yield vector("self_attn.indexer.k_norm.weight", self.dim)
        yield vector("self_attn.indexer.k_norm.bias", self.dim)
        yield Weight("self_attn.indexer.weights_proj.weight", self.heads, hidden, kind=Kind.WIDE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """Multi-head latent attention: the cache keeps `kv_rank` values and a rotated key of `rope_dim` for all heads.

    Queries have `nope_dim` values that are not rotated and `rope_dim` that are; they come through `q_rank` values, or
    from the hidden state itself where that is 0.
    """

    heads: int
    q_rank: int
    kv_rank: int
    nope_dim: int
    rope_dim: int
    v_dim: int
    indexer: Indexer | None = None

    @property
    def qk_dim(self) -> int:
        """Values of a head of queries."""
        return self.nope_dim + self.rope_dim

    def kv_values(self) -> int:
        """Latent and rotated key of one token, which no plan divides."""
        return self.kv_rank + self.rope_dim

    def indexed_bytes(self) -> int:
        """What the cache of the indexer keeps of a token: a key in fp8 and its scale."""
        return 0 if self.indexer is None or self.indexer.shared else self.indexer.dim + INDEX_SCALE_BYTES

    @property
    def most_keys(self) -> int:
        """How many keys a query sees at most, 0 where all."""
        return 0 if self.indexer is None else self.indexer.topk

    def flop_per_key(self) -> int:
        """FLOP of a query and a key that it sees, as heads of their own."""
        return 2 * self.heads * (self.qk_dim + self.v_dim)

    def flop_per_token(self) -> int:
        """FLOP of a token beside its projections, however many keys it sees."""
        return 0

    def flop_per_scored_key(self) -> int:
        """FLOP of a key that the indexer scores."""
        return 0 if self.indexer is None or self.indexer.shared else 2 * self.indexer.heads * self.indexer.dim

    def weights(self, hidden: int) -> Iterator[Weight]:
        """Projections down, which every rank holds, and up; norms of the latents."""
        if self.q_rank:
            yield from linear("self_attn.q_a_proj", self.q_rank, hidden, Share.WHOLE)
            yield vector("self_attn.q_a_layernorm.weight", self.q_rank)
            yield from linear("self_attn.q_b_proj", self.heads * self.qk_dim, self.q_rank, Share.TENSOR)
        else:
            yield from linear("self_attn.q_proj", self.heads * self.qk_dim, hidden, Share.TENSOR)
        yield from linear("self_attn.kv_a_proj_with_mqa", self.kv_rank + self.rope_dim, hidden, Share.WHOLE)
        yield vector("self_attn.kv_a_layernorm.weight", self.kv_rank)
        yield from linear("self_attn.kv_b_proj", self.heads * (self.nope_dim + self.v_dim), self.kv_rank, Share.TENSOR)
        yield from linear("self_attn.o_proj", hidden, self.heads * self.v_dim, Share.TENSOR)
        if self.indexer is not None:
            yield from self.indexer.weights(hidden, self.q_rank)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaNet:
    """The gated delta rule: each of `value_heads` has a state of `key_dim` x `value_dim` instead of a cache."""

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    taps: int

    @property
    def channels(self) -> int:
        """Channels of the short convolution: queries, keys and values."""
        return 2 * self.key_heads * self.key_dim + self.value_heads * self.value_dim

    @property
    def values(self) -> int:
        """Values of a token, of all heads."""
        return self.value_heads * self.value_dim

    def kv_values(self) -> int:
        """None: what is kept does not grow with tokens."""
        return 0

    def state_bytes(self, conv_bytes: float) -> float:
        """What is kept of one request: states, and the inputs that the convolution still needs."""
        states = self.value_heads * self.key_dim * self.value_dim * STATE_BYTES
        return states + self.channels * (self.taps - 1) * conv_bytes

    @property
    def most_keys(self) -> int:
        """How many keys a query sees at most, 0 where all: there are none to see."""
        return 0

    def flop_per_key(self) -> int:
        """None: keys went into the state."""
        return 0

    def flop_per_token(self) -> int:
        """FLOP of a token: what the state has of its key, the key and value written to it, and the query."""
        return 6 * self.value_heads * self.key_dim * self.value_dim

    def flop_per_scored_key(self) -> int:
        """None: there is no indexer."""
        return 0

    def weights(self, hidden: int) -> Iterator[Weight]:
        """Projections in and out, the short convolution, gates and a norm."""
        yield from linear("linear_attn.in_proj_qkv", self.channels, hidden, Share.TENSOR)
        yield from linear("linear_attn.in_proj_z", self.values, hidden, Share.TENSOR)
        yield from linear("linear_attn.in_proj_b", self.value_heads, hidden, Share.TENSOR)
        yield from linear("linear_attn.in_proj_a", self.value_heads, hidden, Share.TENSOR)
        yield vector("linear_attn.conv1d.weight", self.channels * self.taps)
        yield vector("linear_attn.dt_bias", self.value_heads)
        yield vector("linear_attn.A_log", self.value_heads)
        yield vector("linear_attn.norm.weight", self.value_dim)
        yield from linear("linear_attn.out_proj", hidden, self.values, Share.TENSOR)


Mixer = GroupedAttention | LatentAttention | DeltaNet
