"""PipeWeave's artifact: the tables of FP8 GEMMs, and GEMMs, expert layers, norms and activations among its samples.

The files do not name the GEMM kernels: FP8 rows are the paper's, vLLM's block-scaled CUTLASS product, and bf16 rows are
taken to be cuBLAS under PyTorch. Expert layers are the first pass (gate and up, 2 x intermediate columns) of SGLang's
Triton kernel, tokens dealt to the experts in turn. Times are microseconds.
Source: github.com/zksainx/pipeweave (Apache-2.0), the artifact of arXiv 2601.14910.
"""

from __future__ import annotations

import polars as pl

from .frames import first_reason
from .published import NUMBER, TEXT, TRUTH, Format, is_test_name
from .schema import is_held_out

_PREDICTION = "pipeweave_pred_us"  # only the table of test rows has it
_FP8_TABLE = {"gpu": pl.String, "m": pl.Int32, "n": pl.Int32, "k": pl.Int32, "duration_us": pl.Float64}
_LAYERS = ["fused_moe", "fused_moe_tuned"]
_B200 = "B200: left out by the source's authors, 132 CTAs on 148 SMs"
_ENGINES = {"gemm_fp8": "vllm", "gemm_bf16": "torch"}
_DTYPES = {"gemm_fp8": "fp8_block", "gemm_bf16": "bf16"}


def _is_fp8_table(frame: pl.DataFrame) -> bool:
    """Exactly these columns of these types; a prediction may be there. Anybody may have columns of these names."""
    return dict(frame.drop(_PREDICTION, strict=False).schema) == _FP8_TABLE


def _fp8_table(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    is_test = _PREDICTION in frame.columns or is_test_name(name)
    constants = {"family": pl.lit("gemm_fp8"), "is_test": pl.lit(is_test), "biased": pl.lit(False)}
    return _calls(frame.with_columns(**constants, unusable=pl.lit(None, dtype=pl.String)))


def _samples(frame: pl.DataFrame, _: str) -> pl.DataFrame:
    """GEMMs of the report files. Their `is_test` is false, since a file of chosen rows is no test of anything."""
    unusable = first_reason(
        [
            (~pl.col("family").is_in(list(_ENGINES)), "not a GEMM"),
            (pl.col("gpu") == "B200", _B200),
            (pl.col("k").is_null(), "the source gives no k"),
        ]
    )
    return _calls(frame.with_columns(is_test=pl.lit(False), unusable=unusable))


def _layers(frame: pl.DataFrame, _: str) -> pl.DataFrame:
    """Expert layers: the whole grid with the default tiles, and biased rows of tuned ones.

    A row of the grid is test where the crc32 of its tokens leaves no remainder by 5.
    """
    known = frame["tokens"].drop_nulls().unique()
    held = known.filter(pl.Series(is_held_out(f"{tokens:.0f}" for tokens in known)))
    is_test = (pl.col("family") == "fused_moe") & pl.col("tokens").is_in(held.implode()).fill_null(False)
    return frame.select(
        "tokens", "hidden", "experts", "biased",
        device="gpu",
        engine=pl.lit("sglang"),
        version=pl.lit("unknown"),
        kernel_source=pl.format("pipeweave_{}", "family"),
        dtype=pl.lit("bf16"),
        gated=pl.lit(True),
        distribution=pl.lit("balanced"),
        inter="intermediate",
        topk="top_k",
        tp=pl.lit(1),
        ep=pl.lit(1),
        time_s=pl.col("duration_us") * 1e-6,
        is_test=is_test,
        unusable=first_reason([(~pl.col("family").is_in(_LAYERS), "not an expert layer")]),
    )  # fmt: skip


def _norms(frame: pl.DataFrame, _: str) -> pl.DataFrame:
    return _rows(frame, "rmsnorm").with_columns(residual=pl.lit(False), quant_dtype=pl.lit(""))


def _activations(frame: pl.DataFrame, _: str) -> pl.DataFrame:
    """Its `dim` counts gate and up: workload_generator.py of the source has 2 x intermediate."""
    return _rows(frame, "silu_mul").with_columns(pl.col("dim") / 2, quant_dtype=pl.lit(""))


def _rows(frame: pl.DataFrame, family: str) -> pl.DataFrame:
    """Norms and activations of FlashInfer, all of them chosen by a model's error."""
    unusable = [(pl.col("family") != family, f"not {family}"), (pl.col("gpu") == "B200", _B200)]
    return frame.select(
        "rows", "dim", "biased",
        device="gpu",
        engine=pl.lit("flashinfer"),
        version=pl.lit("0.4.1"),
        kernel_source=pl.format("pipeweave_{}", "family"),
        dtype=pl.lit("bf16"),
        time_s=pl.col("duration_us") * 1e-6,
        is_test=pl.lit(False),
        unusable=first_reason(unusable),
    )  # fmt: skip


def _calls(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(
        "m", "n", "k", "is_test", "biased", "unusable",
        device="gpu",
        engine=pl.col("family").replace_strict(_ENGINES, default=None),
        version=pl.lit("unknown"),
        kernel_source=pl.format("pipeweave_{}", "family"),
        dtype=pl.col("family").replace_strict(_DTYPES, default=None),
        batch=pl.lit(1),
        time_s=pl.col("duration_us") * 1e-6,
    )  # fmt: skip


_MATRIX = {"rows": NUMBER, "dim": NUMBER, "duration_us": NUMBER, "gpu": TEXT}
_SIZES = {"m": NUMBER, "n": NUMBER, "k": NUMBER, "duration_us": NUMBER, "gpu": TEXT}
_SAMPLES = {"family": TEXT, "selection": TEXT, "biased": TRUTH}
_LAYER_SIZES = dict.fromkeys(("tokens", "hidden", "intermediate", "experts", "top_k", "duration_us"), NUMBER) | {
    "gpu": TEXT
}
FORMATS = (
    Format(families=("gemm",), columns=_SIZES, load=_fp8_table, is_own=_is_fp8_table),
    Format(families=("gemm",), columns=_SIZES | _SAMPLES, load=_samples),
    Format(families=("fused_moe",), columns=_LAYER_SIZES | _SAMPLES, load=_layers),
    Format(families=("rmsnorm",), columns=_MATRIX | _SAMPLES, load=_norms),
    Format(families=("silu_mul",), columns=_MATRIX | _SAMPLES, load=_activations),
)
