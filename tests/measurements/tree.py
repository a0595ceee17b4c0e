"""A package tree of a handful of rows, written where the test says."""

from pathlib import Path
from typing import Any

import polars as pl

DEVICES = {
    "h100_sxm": "NVIDIA H100 80GB HBM3",
    "a100_sxm": "NVIDIA A100-SXM4-80GB",
    "b200_sxm": "NVIDIA B200",
    "gb300": "NVIDIA GB300",
    "l40s": "NVIDIA L40S",
    "b60": "Intel Arc Pro B60",
}
SHAPE = {"m": 16, "n": 32, "k": 64}


def row(kernel_source: str, gemm_dtype: str, latency: float | None = 0.01, **other: Any) -> dict[str, Any]:
    """One row of a table; `latency` in milliseconds."""
    return SHAPE | {"kernel_source": kernel_source, "gemm_dtype": gemm_dtype, "latency": latency} | other


def put(
    root: Path, gpu: str, framework: str, version: str, rows: list[dict[str, Any]], table: str = "gemm/gemm"
) -> str:
    """Writes one table; its name inside the tree. Columns that a row does not give follow from the place."""
    folder, _, stem = table.partition("/")
    name = f"{gpu}/{folder}/{framework.lower()}/{version}/{stem}_perf.parquet"
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    same = {"framework": framework, "version": version, "device": DEVICES.get(gpu, ""), "op_name": "gemm"}
    pl.DataFrame([same | one for one in rows], schema_overrides={"latency": pl.Float64}).write_parquet(root / name)
    return name
