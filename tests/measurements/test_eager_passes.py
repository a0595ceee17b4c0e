"""Measured eager passes, and rows that are set aside by rule."""

from pathlib import Path

import pytest

pytest.importorskip("polars", reason="needs the extra [data]")

import polars as pl

from synperf.errors import FileFormatError
from synperf.measurements.eager_passes import EagerPass, read

from .shared import shared

ROW = {
    "model": "gpt2_large", "mode": "inf", "seq_len": 1024, "batch": 4, "gpu": "NVIDIA_L4", "option": "",
    "e2e_ms": 1000.0, "neusight_pred_e2e_ms": 900.0,
}  # fmt: skip


def test_rows_are_passes_in_seconds_or_are_set_aside_by_a_named_rule(tmp_path: Path) -> None:
    changes = ({}, {"option": "fusion"}, {"option": "tp4"}, {"model": "switch4"})
    pl.DataFrame([ROW | change for change in changes]).write_parquet(tmp_path / "rows.parquet")
    passes, aside = read(tmp_path / "rows.parquet")
    assert passes == [
        EagerPass(
            model="gpt2_large", mode="inf", gpu="NVIDIA_L4", batch=4, seq_len=1024, measured_s=1.0, published_s=0.9
        )
    ]
    assert sorted(name.split(":")[0] for name in aside) == ["Switch Transformer", "compiled", "several GPUs"]
    assert sum(aside.values()) == 3


def test_another_file_is_told_in_a_sentence(tmp_path: Path) -> None:
    pl.DataFrame([{"m": 1}]).write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(FileFormatError, match=r"rows: rows\.parquet lacks batch, e2e_ms, gpu"):
        read(tmp_path / "rows.parquet")


def test_every_published_row_is_a_pass_or_set_aside() -> None:
    passes, aside = read(shared("neusight_e2e_labels.parquet"))
    assert len(passes) + sum(aside.values()) == 149
