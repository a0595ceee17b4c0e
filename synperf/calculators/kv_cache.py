"""What the cache of keys and values takes: of a token, of a request in whole blocks, and how many fit a budget.

A token keeps `layers * (keys + values of the KV heads) * bytes`: KV heads, not query heads, and bytes of the cache's
own format, not of the weights'. Latent attention keeps one latent and a rotated key for all heads.

The budget is what an engine leaves: `utilization * total - peak - other`, with the peak of a profiling run (weights and
activations). Source: vllm, `determine_num_available_blocks`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import FieldError
from ..hardware import DType
from ..kernels.fields import dtype_of
from ..models import Model
from ..models.memory import PAGE_TOKENS, token_bytes
from ..models.mixers import GroupedAttention, LatentAttention, Mixer
from ..units import format_binary, format_percent
from .amounts import extent, not_negative, positive, share


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """So many layers of one kind of attention."""

    count: int
    mixer: Mixer


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Bytes of a GPU, the share that an engine may take, and what its profiling run and others take of that."""

    total_bytes: float
    peak_bytes: float
    utilization: float = 0.9
    other_bytes: float = 0.0
    max_tokens: int | None = None  # of one request, as the engine is started with


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What a budget leaves for the cache. `concurrency` is of requests of `max_tokens`; `fits` says one does."""

    kv_bytes: float
    blocks: int
    tokens: int
    max_tokens: int | None
    concurrency: float | None
    fits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KvCache:
    """Bytes of the whole model, and of one of `tp` ranks. A request is of `tokens`, in whole blocks, of one rank.

    `query_heads_factor` is how much a formula with all query heads (or the hidden size) would overstate.
    """

    bytes_per_token: float
    bytes_per_token_per_gpu: float
    block_tokens: int
    block_bytes: float
    tokens: int | None
    bytes_per_request: float | None
    query_heads_factor: float
    rooms: tuple[Room, ...]
    why: tuple[str, ...]
    advice: tuple[str, ...]


def grouped(
    *, layers: int, kv_heads: int, head_dim: int, v_head_dim: int | None = None, heads: int | None = None
) -> tuple[Layers, ...]:
    """Layers whose queries share KV heads: as many as query heads (MHA), fewer (GQA), one (MQA).

    Raises:
        FieldError: a number is not whole and from 1 on, or query heads are no multiple of KV heads.
    """
    few, dim = extent("kv_heads", kv_heads), extent("head_dim", head_dim)
    many = few if heads is None else extent("heads", heads)
    if many % few:
        raise FieldError(f"heads must be a multiple of kv_heads, got {many} and {few}")
    values = dim if v_head_dim is None else extent("v_head_dim", v_head_dim)
    mixer = GroupedAttention(heads=many, kv_heads=few, head_dim=dim, v_head_dim=values)
    return (Layers(count=extent("layers", layers), mixer=mixer),)


def latent(*, layers: int, kv_lora_rank: int, rope_dim: int) -> tuple[Layers, ...]:
    """Layers that keep a latent and a rotated key (MLA).

    Raises:
        FieldError: a number is not whole and from 1 on.
    """
    rank, rope = extent("kv_lora_rank", kv_lora_rank), extent("rope_dim", rope_dim)
    mixer = LatentAttention(heads=1, q_rank=0, kv_rank=rank, nope_dim=0, rope_dim=rope, v_dim=0)
    return (Layers(count=extent("layers", layers), mixer=mixer),)


def of_model(model: Model) -> tuple[Layers, ...]:
    """The layers of a model.

    Raises:
        FieldError: an encoder, which keeps nothing.
    """
    if not model.is_decoder:
        raise FieldError(f"model: {model.name} is an encoder, which keeps no cache")
    counts: Counter[Mixer] = Counter()
    for layer, count in model.distinct():
        counts[layer.mixer] += count
    return tuple(Layers(count=count, mixer=mixer) for mixer, count in counts.items())


def kv_cache(
    layers: Sequence[Layers],
    *,
    dtype: DType | str = DType.BF16,
    tp: int = 1,
    tokens: int | None = None,
    block_tokens: int = PAGE_TOKENS,
    budgets: Sequence[Budget] = (),
) -> KvCache:
    """What these layers keep, in a cache of a format on `tp` ranks, and what fits each budget of a rank.

    Raises:
        FieldError: no such format, a number out of range, or KV heads that do not spread over the ranks.
    """
    kind, ranks, block = dtype_of("kv-dtype", dtype), extent("tp", tp), extent("block_tokens", block_tokens)
    _check_ranks(layers, ranks)
    whole_model, own = (sum(one.count * token_bytes(one.mixer, kind.bytes, n) for one in layers) for n in (1, ranks))
    length = None if tokens is None else extent("tokens", tokens)
    rooms = tuple(_room(budget, own * block, block) for budget in budgets)
    factor = max((_query_heads(one.mixer) for one in layers), default=1.0)
    request = None if length is None else -(-length // block) * block * own
    return KvCache(
        bytes_per_token=whole_model,
        bytes_per_token_per_gpu=own,
        block_tokens=block,
        block_bytes=own * block,
        tokens=length,
        bytes_per_request=request,
        query_heads_factor=factor,
        rooms=rooms,
        why=tuple(_why(layers, kind, whole_model, own, ranks, length, request, factor)),
        advice=tuple(_advice(kind, ranks, layers, rooms)),
    )


def _check_ranks(layers: Sequence[Layers], ranks: int) -> None:
    for one in layers:
        if isinstance(one.mixer, GroupedAttention):
            few = one.mixer.kv_heads
            if few % ranks and ranks % few:
                raise FieldError(f"tp must divide the {few} KV heads or be a multiple of them, got {ranks}")


def _query_heads(mixer: Mixer) -> float:
    return mixer.heads / mixer.kv_heads if isinstance(mixer, GroupedAttention) else 1.0


def _room(budget: Budget, block_bytes: float, block_tokens: int) -> Room:
    positive(total_bytes=budget.total_bytes)
    share(utilization=budget.utilization)
    not_negative(peak_bytes=budget.peak_bytes, other_bytes=budget.other_bytes)
    left = max(budget.utilization * budget.total_bytes - budget.peak_bytes - budget.other_bytes, 0.0)
    blocks = int(left / block_bytes) if block_bytes else 0
    asked = None if budget.max_tokens is None else extent("max_tokens", budget.max_tokens)
    return Room(
        kv_bytes=left,
        blocks=blocks,
        tokens=blocks * block_tokens,
        max_tokens=asked,
        concurrency=None if asked is None else blocks * block_tokens / asked,
        fits=blocks > 0 and (asked is None or blocks * block_tokens >= asked),
    )


def _why(
    layers: Sequence[Layers], kind: DType, whole_model: float, own: float, ranks: int,
    tokens: int | None, request: float | None, factor: float,
) -> list[str]:  # fmt: skip
    said = [f"a token keeps {format_binary(whole_model)}: {' + '.join(_term(one, kind) for one in layers)}"]
    if ranks > 1:
        said.append(f"each of {ranks} ranks keeps {format_binary(own)} of it")
    if tokens is not None and request is not None:
        said.append(f"{tokens:,} tokens: {format_binary(request)}")
    if factor > 1:
        said.append(f"{factor:g} query heads share a KV head: a formula with all of them is {factor:g} times too large")
    return said


def _term(one: Layers, kind: DType) -> str:
    mixer = one.mixer
    if isinstance(mixer, GroupedAttention):
        sides = "2" if mixer.head_dim == mixer.v_head_dim else f"({mixer.head_dim} + {mixer.v_head_dim})"
        dim = f" x {mixer.head_dim}" if mixer.head_dim == mixer.v_head_dim else ""
        seen = f", of the last {mixer.window:,} tokens" if mixer.window else ""
        return f"{sides} x {one.count} layers x {mixer.kv_heads} KV heads{dim} x {kind.bytes:g} B{seen}"
    if isinstance(mixer, LatentAttention):
        index = f" + {mixer.indexed_bytes()} B of the indexer" if mixer.indexed_bytes() else ""
        return f"{one.count} layers x (({mixer.kv_rank} + {mixer.rope_dim}) x {kind.bytes:g} B{index})"
    return f"{one.count} layers that keep a state and no token"


def _advice(kind: DType, ranks: int, layers: Sequence[Layers], rooms: Sequence[Room]) -> list[str]:
    said = []
    for one in rooms:
        if not one.fits and one.max_tokens is not None:
            said.append(
                f"{one.max_tokens:,} > {one.tokens:,} tokens: does not fit; at most {one.tokens:,} a request, or a "
                "higher utilization, a smaller profiling batch, fewer bytes a token"
            )
    few = min((one.mixer.kv_heads for one in layers if isinstance(one.mixer, GroupedAttention)), default=ranks)
    if ranks > few:
        said.append(f"{ranks} ranks hold copies of {few} KV heads: the cache of a rank does not shrink beyond tp {few}")
    if kind.bytes > 1:
        said.append(f"a cache in fp8 takes {format_percent(1 / kind.bytes)} of that")
    return said or ["fewer KV heads or latents are the model's own; a shorter context is yours"]
