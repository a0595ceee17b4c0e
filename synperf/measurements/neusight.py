"""NeuSight's GEMMs: `torch.nn.functional.linear` (with bias) and `torch.bmm` in fp32, one launch at a time.

A time is the mean of the 5 fastest of 25 launches between two events, in milliseconds, with the launch in it.
Source: github.com/sitar-lab/NeuSight (MIT), ASPLOS 2025.
"""

from __future__ import annotations

import polars as pl

from .frames import first_reason
from .published import NUMBER, TEXT, Format, is_test_name

_GEMMS = ("linear", "bmm")


def _calls(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    return frame.select(
        "m", "n", "k",
        device="gpu",
        engine=pl.lit("torch"),
        version="torch",
        kernel_source=pl.format("neusight_{}", "op"),
        dtype=pl.lit("fp32"),
        batch="b",
        time_s=pl.col("latency_ms") * 1e-3,
        is_test=pl.lit(is_test_name(name)),
        biased=pl.lit(False),
        unusable=first_reason([(~pl.col("op").is_in(_GEMMS), "not a GEMM")]),
    )  # fmt: skip


_COLUMNS = {"b": NUMBER, "m": NUMBER, "n": NUMBER, "k": NUMBER, "latency_ms": NUMBER}
FORMATS = (
    Format(
        families=("gemm",), columns=_COLUMNS | {"op": TEXT, "gpu": TEXT, "vendor": TEXT, "torch": TEXT}, load=_calls
    ),
)
