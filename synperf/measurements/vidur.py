"""Vidur's profiles of transformer layers: four projections a row, norms, activation, RoPE and the residual, or one
attention, each one rank's shard under tensor parallelism.

Layers of Sarathi-Serve, a descendant of an older vLLM, in fp16; times of the kernels in milliseconds, in steps of a
microsecond. The projection up of a gated MLP is one product for gate and up: only so are its FLOP per second those of
its neighbours (about 235 TFLOP/s on an A100, half of it otherwise).
Source: github.com/microsoft/vidur (MIT), vidur/profiling/mlp/mlp_impl.py and mlp_wrapper.py; MLSys 2024.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from .frames import first_reason
from .published import NUMBER, TEXT, TRUTH, Format
from .schema import NUMBERS, is_call_test

_HIDDEN, _INTER, _SHARDS = pl.col("n_embd"), pl.col("n_expanded_embd"), pl.col("num_tensor_parallel_workers")
_QKV = _HIDDEN / pl.col("n_head") * (pl.col("n_head") + 2 * pl.col("n_kv_head"))
_UP = pl.when(pl.col("use_gated_mlp")).then(2).otherwise(1) * _INTER
PROJECTIONS = {  # operation -> outputs and inputs of one rank
    "attn_pre_proj": (_QKV / _SHARDS, _HIDDEN),
    "attn_post_proj": (_HIDDEN, _HIDDEN / _SHARDS),
    "mlp_up_proj": (_UP / _SHARDS, _HIDDEN),
    "mlp_down_proj": (_HIDDEN, _INTER / _SHARDS),
}


def _calls(frame: pl.DataFrame, _: str) -> pl.DataFrame:
    table = pl.concat(_projection(frame, operation) for operation in PROJECTIONS)
    return _with_split(table, "m", "n", "k", "batch", "dtype")


def _projection(frame: pl.DataFrame, operation: str) -> pl.DataFrame:
    n, k = PROJECTIONS[operation]
    return frame.select(
        device="gpu",
        engine=pl.lit("vllm"),
        version=pl.lit("unknown"),
        kernel_source=pl.lit("vidur_linear"),
        dtype=pl.lit("fp16"),
        m=pl.col("num_tokens").cast(pl.Int64),
        n=_whole(n),
        k=_whole(k),
        batch=pl.lit(1, dtype=pl.Int64),
        time_s=pl.col(f"{operation}_median_ms").cast(pl.Float64) * 1e-3,
        biased=pl.lit(False),
        unusable=pl.lit(None, dtype=pl.String),
    )


def _attentions(frame: pl.DataFrame, _: str) -> pl.DataFrame:
    """Causal attention over a paged cache: a chunk of one prompt after an earlier context, or a token of each request.

    The size of the cache does not count the new tokens.
    """
    shards, is_prefill = pl.col("num_tensor_parallel_workers"), pl.col("is_prefill")
    query = pl.when(is_prefill).then(pl.col("prefill_chunk_size")).otherwise(1)
    table = frame.select(
        device="gpu",
        engine=pl.lit("vllm"),
        version=pl.lit("unknown"),
        kernel_source=pl.lit("vidur_attention"),
        dtype=pl.lit("fp16"),
        kv_dtype=pl.lit("fp16"),
        causal=pl.lit(True),
        batch=pl.col("batch_size").cast(pl.Int64),
        q_len=query.cast(pl.Int64),
        kv_len=(pl.col("kv_cache_size") + query).cast(pl.Int64),
        heads=_whole(pl.col("n_q_head") / shards),
        kv_heads=_whole(pl.col("n_kv_head") / shards),
        head_dim=_whole(pl.col("n_embd") / pl.col("n_q_head")),
        window=pl.lit(0, dtype=pl.Int64),
        time_s=pl.coalesce("attn_prefill_median_ms", "attn_decode_median_ms").cast(pl.Float64) * 1e-3,
        biased=pl.lit(False),
        unusable=pl.lit(None, dtype=pl.String),
    )
    return _with_split(table, *NUMBERS["attention"][:-1], "causal", "window", "dtype", "kv_dtype")


def _norms(frame: pl.DataFrame, _: str) -> pl.DataFrame:
    """Both RMS norms of a layer, over the whole hidden size; layers without a gate have layer norms."""
    times = ("input_layernorm", "post_attention_layernorm")
    fields = {"rows": pl.col("num_tokens"), "dim": _HIDDEN, "residual": pl.lit(False), "quant_dtype": pl.lit("")}
    other = first_reason([(~pl.col("use_gated_mlp"), "a layer norm")])
    return _with_split(pl.concat(_kernel(frame, "norm", name, fields, other) for name in times), *_NORM)


def _activations(frame: pl.DataFrame, _: str) -> pl.DataFrame:
    """SiLU and product over the columns of one rank; layers without a gate have another activation."""
    fields = {"rows": pl.col("num_tokens"), "dim": _whole(_INTER / _SHARDS), "quant_dtype": pl.lit("")}
    other = first_reason([(~pl.col("use_gated_mlp"), "an activation without a gate")])
    return _with_split(_kernel(frame, "act", "mlp_act", fields, other), *NUMBERS["silu_mul"], "dtype")


def _ropes(frame: pl.DataFrame, _: str) -> pl.DataFrame:
    """The heads of Q and K of one rank; layers without a gate rotate a part of each head, which is not told."""
    heads = _whole((pl.col("n_head") + pl.col("n_kv_head")) / _SHARDS)
    fields = {"rows": pl.col("num_tokens").cast(pl.Int64) * heads, "dim": _whole(_HIDDEN / pl.col("n_head"))}
    other = first_reason([(~pl.col("use_gated_mlp"), "heads that are rotated in part")])
    return _with_split(_kernel(frame, "rope", "attn_rope", fields, other), *NUMBERS["rope"], "dtype")


def _additions(frame: pl.DataFrame, _: str) -> pl.DataFrame:
    """The residual, over the whole hidden size; layers without a gate add what attention and MLP gave to it at once,
    which are two additions.
    """
    fields = {"elements": pl.col("num_tokens").cast(pl.Int64) * _HIDDEN}
    other = first_reason([(~pl.col("use_gated_mlp"), "two additions at once")])
    table = _kernel(frame, "add", "add", fields | {"inputs": pl.lit(2), "outputs": pl.lit(1)}, other)
    table = table.with_columns(flop_per_element=pl.lit(1))
    return _with_split(table, "elements", "inputs", "outputs", "dtype", "flop_per_element")


def _kernel(
    frame: pl.DataFrame, name: str, column: str, fields: Mapping[str, pl.Expr], unusable: pl.Expr
) -> pl.DataFrame:
    """Rows of one operation of a layer; an operation that a model lacks is not there."""
    return frame.filter(pl.col(f"{column}_median_ms").is_not_null()).select(
        device="gpu",
        engine=pl.lit("vllm"),
        version=pl.lit("unknown"),
        kernel_source=pl.lit(f"vidur_{name}"),
        dtype=pl.lit("fp16"),
        time_s=pl.col(f"{column}_median_ms").cast(pl.Float64) * 1e-3,
        biased=pl.lit(False),
        unusable=unusable,
        **fields,
    )


def _with_split(table: pl.DataFrame, *fields: str) -> pl.DataFrame:
    """Adds which rows are test ones, by the fields of their calls."""
    return table.with_columns(pl.Series("is_test", is_call_test(table.select(fields).iter_rows())))


def _whole(size: pl.Expr) -> pl.Expr:
    """The size where the shards are even, else null."""
    return pl.when(size == size.floor()).then(size.cast(pl.Int64, strict=False))


_TIMES = {f"{operation}_median_ms": NUMBER for operation in PROJECTIONS}
_SIZES = ("n_head", "n_kv_head", "n_embd", "n_expanded_embd", "num_tokens", "num_tensor_parallel_workers")
_ATTENTION_SIZES = (
    "n_embd", "n_q_head", "n_kv_head", "num_tensor_parallel_workers", "batch_size", "prefill_chunk_size",
    "kv_cache_size", "attn_prefill_median_ms", "attn_decode_median_ms",
)  # fmt: skip
_NORM = (*NUMBERS["rmsnorm"], "dtype", "residual")
_LAYER = {"gpu": TEXT, "use_gated_mlp": TRUTH} | dict.fromkeys(_SIZES, NUMBER)
FORMATS = (
    *(
        Format(families=(family,), columns=_LAYER | {f"{column}_median_ms": NUMBER}, load=load)
        for family, column, load in (
            ("rmsnorm", "input_layernorm", _norms),
            ("silu_mul", "mlp_act", _activations),
            ("rope", "attn_rope", _ropes),
            ("elementwise", "add", _additions),
        )
    ),
    Format(
        families=("gemm",),
        columns={"gpu": TEXT, "use_gated_mlp": TRUTH} | dict.fromkeys(_SIZES, NUMBER) | _TIMES,
        load=_calls,
    ),
    Format(
        families=("attention",),
        columns={"gpu": TEXT, "is_prefill": TRUTH} | dict.fromkeys(_ATTENTION_SIZES, NUMBER),
        load=_attentions,
    ),
)
