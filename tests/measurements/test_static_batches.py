"""Measured static batches: the median of the repeats after the first."""

from pathlib import Path

import pytest

pytest.importorskip("polars", reason="needs the extra [data]")

from synperf.errors import FileFormatError
from synperf.measurements.static_batches import Times, read

from .shared import shared
from .static_files import write


def test_the_first_repeat_is_left_out_and_the_median_of_the_others_counts(tmp_path: Path) -> None:
    repeats = [{"repeat": at, "total_ms": total} for at, total in enumerate((900.0, 210.0, 230.0, 220.0))]
    (run,) = read(write(tmp_path / "rows.parquet", *repeats))
    assert run.measured == Times(
        prefill_s=pytest.approx(0.03), step_s=pytest.approx(0.015), total_s=pytest.approx(0.22)
    )
    assert (run.isl, run.osl, run.steps, run.engine) == ((100, 200), 11, 10, "sglang")
    assert run.kernels == {"prefill_attention": "flashinfer", "decode_attention": "flashinfer"}
    assert run.published == {"pipeweave": Times(prefill_s=0.02, step_s=0.012, total_s=0.14)}


def test_a_run_with_one_repeat_alone_has_that_one(tmp_path: Path) -> None:
    (run,) = read(write(tmp_path / "rows.parquet", {}))
    assert run.measured.total_s == pytest.approx(0.2)


def test_where_only_the_whole_was_timed_the_phases_have_no_time(tmp_path: Path) -> None:
    (run,) = read(write(tmp_path / "rows.parquet", {"prefill_ms": None, "median_decode_ms": None}))
    assert (run.measured.prefill_s, run.measured.step_s) == (None, None)


def test_what_cannot_be_read_is_told_in_a_sentence(tmp_path: Path) -> None:
    other = tmp_path / "text.parquet"
    other.write_text("no parquet")
    with pytest.raises(FileFormatError, match=r"rows: text\.parquet is no parquet file"):
        read(other)
    unknown = write(tmp_path / "rows.parquet", {"decode_attention": "other"})
    with pytest.raises(FileFormatError, match=r"rows\.parquet: a: 'other'"):
        read(unknown)


def test_the_published_file_has_forty_configurations_on_eleven_gpus() -> None:
    runs = read(shared("pipeweave_e2e_real.parquet"))
    assert len(runs) == 40
    assert len({run.gpu for run in runs}) == 11
    assert sum(run.measured.prefill_s is None for run in runs) == 3
