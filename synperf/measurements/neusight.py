"""NeuSight's operations of PyTorch in fp32, one launch at a time: `linear` of torch.nn.functional (with bias), `bmm`,
element-wise operations, softmax, layer norm and 2-D convolutions.

A time is the mean of the 5 fastest of 25 launches between two events, in milliseconds, with the launch in it.
Source: github.com/sitar-lab/NeuSight (MIT), ASPLOS 2025.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from .frames import first_reason
from .published import NUMBER, TEXT, Format, is_test_name
from .schema import LABELS, NUMBERS, is_call_test

_AMD = "amd"  # whose operations other than GEMMs are in the files of training rows alone
_GEMMS = ("linear", "bmm")


_TENSORS = ("add", "mul", "div", "pow")  # of two arrays; with a `u` behind, of an array and a number
# Operations of one value: one instruction, or an estimate of how many the functions of the CUDA math library take.
_FLOP = {"add": 1, "addu": 1, "mul": 1, "mulu": 1, "relu": 1, "div": 8, "divu": 8, "tanh": 20, "gelu": 25} | {
    "pow": 60, "powu": 60,
}  # fmt: skip


def _launches(frame: pl.DataFrame, name: str, ops: Iterable[str], what: str, **fields: pl.Expr | str) -> pl.DataFrame:
    """Rows of some operations, with the fields of their calls; those of others are not `what` is asked for."""
    return frame.select(
        device="gpu",
        engine=pl.lit("torch"),
        version="torch",
        kernel_source=pl.format("neusight_{}", "op"),
        dtype=pl.lit("fp32"),
        time_s=pl.col("latency_ms") * 1e-3,
        is_test=pl.lit(is_test_name(name)),
        biased=pl.lit(False),
        unusable=first_reason([(~pl.col("op").is_in(list(ops)), f"not {what}")]),
        **fields,
    )


def _gemms(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    return _launches(frame, name, _GEMMS, "a GEMM", batch="b", m="m", n="n", k="k")


def _split(table: pl.DataFrame, family: str, chosen: pl.Series | bool = True) -> pl.DataFrame:
    """The published split among the chosen rows, of which no file of test rows has any; the others stay as they are."""
    calls = table.select(*NUMBERS[family], *LABELS[family]).iter_rows()
    return table.with_columns(is_test=pl.col("is_test") | (pl.Series(is_call_test(calls)) & chosen))


def _rows(frame: pl.DataFrame, name: str, family: str, op: str, what: str, **fields: pl.Expr | str) -> pl.DataFrame:
    """Rows of one operation over a matrix."""
    return _split(_launches(frame, name, [op], what, rows="b", dim="h", **fields), family, frame["vendor"] == _AMD)


def _elementwise(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    table = _launches(
        frame, name, _FLOP, "an element-wise operation",
        elements=pl.col("b").cast(pl.Int64) * pl.col("h"),
        inputs=pl.when(pl.col("op").is_in(_TENSORS)).then(2).otherwise(1),
        outputs=pl.lit(1),
        flop_per_element=pl.col("op").replace_strict(_FLOP, default=None, return_dtype=pl.Int64),
    )  # fmt: skip
    return _split(table, "elementwise", frame["vendor"] == _AMD)


def _softmax(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    return _rows(frame, name, "softmax", "softmax", "a softmax")


def _layernorm(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    return _rows(frame, name, "layernorm", "ln", "a layer norm", residual=pl.lit(False))


def _convolutions(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Square images and kernels. There is one file of them: its test rows are those of the published split."""
    sides = {"height": "input_size", "width": "input_size", "kernel_h": "kernel_size", "kernel_w": "kernel_size"}
    table = _launches(
        frame, name, ["conv"], "a convolution",
        batch="b", in_channels="in_channels", out_channels="out_channels", stride="stride", padding="padding",
        dilation=pl.lit(1), groups=pl.lit(1), layout=pl.lit("nchw"),
        **{field: pl.col(side) for field, side in sides.items()},
    )  # fmt: skip
    return _split(table, "conv")


_LABELS = {"latency_ms": NUMBER, "op": TEXT, "gpu": TEXT, "vendor": TEXT, "torch": TEXT}
_GEMM = _LABELS | {"b": NUMBER, "m": NUMBER, "n": NUMBER, "k": NUMBER}
_IMAGES = _LABELS | dict.fromkeys(
    ("b", "in_channels", "out_channels", "kernel_size", "input_size", "stride", "padding"), NUMBER
)
_MATRIX = _LABELS | {"b": NUMBER, "h": NUMBER}
FORMATS = (
    Format(families=("gemm",), columns=_GEMM, load=_gemms),
    Format(families=("elementwise",), columns=_MATRIX, load=_elementwise),
    Format(families=("softmax",), columns=_MATRIX, load=_softmax),
    Format(families=("layernorm",), columns=_MATRIX, load=_layernorm),
    Format(families=("conv",), columns=_IMAGES, load=_convolutions),
)
