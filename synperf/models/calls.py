"""A pass of a batch through a model, as calls of kernel families and collectives: what one rank runs, in order.

Nothing overlaps and nothing is fused but what families say. Calls of layers that are alike are listed once, with their
count. Stages of a pipeline are listed one after another, with what they send each other.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import FieldError
from ..hardware import DType
from ..kernels.elementwise import Elementwise
from ..kernels.embedding import Embedding
from ..kernels.fields import refuse
from ..kernels.gemm_call import Gemm
from ..kernels.layernorm import LayerNorm
from ..kernels.rmsnorm import RmsNorm
from ..kernels.sampling import Sampling
from ..numeric import Number, ceil_div
from .batch import Batch
from .call_list import Calls, Entry, Named, Pass
from .description import Model
from .feed_calls import feed_calls
from .formats import planned
from .mixer_calls import mixer_calls
from .plan import Plan
from .sharding import check, stages

_SENT = 2  # between stages: the hidden state, and the residual that is not added to it yet


def calls(model: Model, plan: Plan, batch: Batch, stage: int | None = None) -> tuple[Entry, ...]:
    """The calls of one pass of a batch, of all stages or of one, as one rank runs them.

    Raises:
        FieldError: the plan does not go with the model, or a batch or stage is not what it should be.
    """
    check(model, plan)
    _check_encoder(model, batch)
    p = Pass(planned(model, plan), plan, batch)
    spans = stages(model.num_layers, plan.pp)
    if stage is None:
        return tuple(_entries(p, range(model.num_layers), plan.pp - 1))
    if not 0 <= stage < plan.pp:
        raise FieldError(f"stage must be from 0 to {plan.pp - 1}, got {stage}")
    return tuple(_entries(p, spans[stage], 1 if stage < plan.pp - 1 else 0))


def _check_encoder(model: Model, batch: Batch) -> None:
    """Checks that an encoder, which keeps no tokens, sees whole sequences.

    Raises:
        FieldError: it is one, and a request has tokens in a cache.
    """
    for one in () if model.is_decoder else batch.requests:
        refuse(
            one.kv_len != one.q_len, "kv_len must be q_len for an encoder, which is {}, got {}", one.q_len, one.kv_len
        )


def _entries(p: Pass, layers: range, sends: int) -> Iterator[Entry]:
    if layers.start == 0:
        yield from (Entry(*named, 1) for named in _before(p))
    yield from _norms(p, layers)
    for layer, count in p.model.distinct(layers):
        yield from (Entry(*named, count) for named in mixer_calls(p, layer))
        yield from (Entry(*named, count) for named in feed_calls(p, layer))
    if sends:
        values = _SENT * p.tokens * p.model.hidden
        nodes = 2 if p.plan.network else None  # stages stand on other nodes where a network is named
        yield Entry(*p.collective("send_recv", "send_recv", values, 2, nodes=nodes), sends)
    if layers.stop == p.model.num_layers:
        yield from (Entry(*named, 1) for named in _after(p))


def _before(p: Pass) -> Calls:
    """Tables that tokens are looked up in."""
    e, hidden, split = p.model.embeddings, p.model.hidden, p.plan.split_vocab and p.plan.tp > 1
    vocab = ceil_div(e.vocab, p.plan.tp) if split else e.vocab
    yield p.call("embedding", Embedding, rows=p.tokens, dim=hidden, vocab=vocab)
    for rows in (e.positions, e.types):
        if rows:
            yield p.call("embedding", Embedding, rows=p.tokens, dim=hidden, vocab=rows)
            yield p.call("embedding_sum", Elementwise, elements=p.tokens * hidden, inputs=2)
    if e.normed:
        yield _norm(p, "embedding_norm", p.tokens, residual=False)
    if split:
        yield p.collective("embedding_all_reduce", "all_reduce", p.tokens * hidden, p.plan.tp)


def _norm(p: Pass, part: str, rows: Number, *, residual: bool) -> Named:
    kind = RmsNorm if p.model.norm == "rms" else LayerNorm
    return p.call(part, kind, rows=rows, dim=p.model.hidden, residual=residual)


def _norms(p: Pass, layers: range) -> Iterator[Entry]:
    """Norms of the hidden state, which add what the half before has left, but for the very first.

    Those after a half of a sandwich add nothing.
    """
    model = p.model
    halves = len(layers) * (1 if model.norms == "parallel" else 2)
    is_first = layers.start == 0 and model.norms != "post"
    has_last = layers.stop == model.num_layers and model.head.final_norm
    plain = is_first + (halves if model.norms == "sandwich" else 0)
    for count, residual in ((plain, False), (halves + has_last - is_first, True)):
        if count:
            yield Entry(*_norm(p, "norm", p.tokens, residual=residual), count)


def _after(p: Pass) -> Calls:
    """The head: logits and a token for every request that draws one, or what an encoder has instead."""
    model, batch, tp = p.model, p.batch, p.plan.tp
    hidden = model.hidden
    rows: Number = sum(one.count for one in batch.requests) if model.head.kind == "pooler" else p.tokens
    if model.head.kind in ("pooler", "masked_lm"):
        yield p.call("head_dense", Gemm, m=rows, n=hidden, k=hidden)
        yield p.call("head_activation", Elementwise, elements=rows * hidden)
    if model.head.kind == "masked_lm":
        yield _norm(p, "head_norm", rows, residual=False)
    rows = batch.sampled if model.is_decoder else rows
    if not model.has_logits or not any(one.samples for one in batch.requests):
        return
    vocab = model.embeddings.vocab
    split = p.plan.split_vocab and tp > 1
    yield p.call("lm_head", Gemm, m=rows, n=ceil_div(vocab, tp) if split else vocab, k=hidden)
    if split:
        yield p.collective("logits_all_gather", "all_gather", rows * vocab, tp)
    if model.is_decoder:
        yield p.call("sampling", Sampling, rows=rows, vocab=vocab, dtype=DType.FP32)
