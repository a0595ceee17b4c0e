"""Serving points of a user: what is read, and what is refused where."""

from pathlib import Path

import pytest

from synperf.errors import PerfError
from synperf.measurements.serving_rows import read

HEAD = "model,gpu,engine,tp,concurrency,isl,osl,ttft_ms,tpot_ms"
ROW = "Qwen3-32B,H100,vllm,2,16,1024,128,250.5,18"


def table(folder: Path, *lines: str) -> Path:
    path = folder / "points.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_names_are_those_of_the_catalog_and_times_are_seconds(tmp_path: Path) -> None:
    found = read(table(tmp_path, HEAD, ROW))
    assert (found.model[0], found.gpu[0], found.engine[0]) == ("Qwen/Qwen3-32B", "h100_sxm", "vllm")
    assert (found.tp[0], found.pp[0], found.concurrency[0]) == (2, 1, 16)
    assert (found.ttft_s[0], found.tpot_s[0]) == (pytest.approx(0.2505), pytest.approx(0.018))


def test_seconds_may_be_given_and_other_columns_are_the_users(tmp_path: Path) -> None:
    head = HEAD.replace("ttft_ms", "ttft_s") + ",note"
    assert read(table(tmp_path, head, ROW.replace("250.5", "0.25") + ",mine")).ttft_s[0] == 0.25


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (ROW.replace("Qwen3-32B", "Qwen9"), r"points.csv row 1 \(line 2\): no model named 'Qwen9'"),
        (ROW.replace("H100", "H900"), "no GPU named 'H900'"),
        (ROW.replace(",16,", ",0,"), "concurrency must be a whole number from 1"),
        (ROW.replace("250.5", "-1"), "ttft_ms must be a time above 0, got '-1'"),
        (ROW.replace(",18", ",nan"), "tpot_ms must be a time above 0, got 'nan'"),
        (ROW.replace(",18", ","), "tpot_ms is missing"),
        (ROW.replace("vllm", ""), "engine is missing"),
        (ROW.replace(",128,", ",1,"), "osl must be 2 or more"),
    ],
)
def test_a_bad_cell_is_named_with_its_row(tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(PerfError, match=message):
        read(table(tmp_path, HEAD, row))


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PerfError, match="no rows"):
        read(table(tmp_path, HEAD))
