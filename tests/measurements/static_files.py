"""A small file of static batches, as PipeWeave's artifact has them."""

from pathlib import Path
from typing import Any

import polars as pl

ROW: dict[str, Any] = {
    "config_id": "a", "framework": "sglang", "model": "Qwen2.5-14B", "workload": "two", "gpu": "H100", "tp": 1, "pp": 1,
    "prompt_lens": [100, 200], "output_len": 11, "repeat": 0, "prefill_ms": 30.0, "median_decode_ms": 15.0,
    "total_ms": 200.0, "prefill_attention": "fa2_ragged", "decode_attention": "fa2_paged",
    "pipeweave_prefill_ms": 20.0, "pipeweave_decode_avg_ms": 12.0, "pipeweave_total_ms": 140.0,
}  # fmt: skip


def write(path: Path, *changes: dict[str, Any]) -> Path:
    """A file with a row for each of the changes."""
    pl.DataFrame([ROW | change for change in changes], strict=False).write_parquet(path)
    return path
