"""Measured serving points: what is mended, which half a row is of, and which rule sets it aside."""

import csv

import pytest

from synperf.errors import FileFormatError
from synperf.measurements import silicon
from synperf.measurements.silicon import Layout, mended

ROW = {
    "id": "a", "silicon_data_source": "source_file=2026-01-01; x", "backend": "vllm", "backend_version": "0.19.0",
    "model_path": "Qwen/Qwen3-32B", "system": "h100_sxm", "precision": "fp8", "mode": "agg", "isl": "1024",
    "osl": "128", "batch_size": "16", "tp_size": "2", "pp_size": "1", "attention_dp_size": "1", "moe_tp_size": "2",
    "moe_ep_size": "1", "decode_batch_size": "", "silicon_ttft_ms": "100.0", "silicon_tpot_ms": "10.0",
}  # fmt: skip


def rows_of(tmp_path, *changes):
    """Rows with these fields changed, each with times of its own where none are given."""
    path = tmp_path / silicon.FILE
    rows = [ROW | {"id": str(i), "silicon_tpot_ms": str(10 + i)} | change for i, change in enumerate(changes)]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(ROW))
        writer.writeheader()
        writer.writerows(rows)
    return path


def set_aside(tmp_path, *changes):
    return dict(silicon.read(rows_of(tmp_path, *changes))[1])


def test_a_row_is_a_point_in_seconds(tmp_path):
    points, aside = silicon.read(rows_of(tmp_path, {}))
    assert not aside
    assert (points.ttft_s[0], points.tpot_s[0]) == (0.1, 0.01)
    assert (points.model[0], points.dtype[0], points.family[0]) == ("Qwen/Qwen3-32B", "fp8", "Qwen3-32B")
    assert (points.source[0], points.tp[0], points.ep[0], points.concurrency[0]) == ("daily", 2, 1, 16)
    assert points.e2e_s[0] == pytest.approx(0.1 + 127 * 0.01)


def test_experts_of_blackwell_are_multiplied_in_fp8(tmp_path):
    gpt = {"model_path": "openai/gpt-oss-120b", "precision": "fp4"}
    points, _ = silicon.read(rows_of(tmp_path, gpt, gpt | {"system": "b200_sxm"}))
    assert points.dtype.tolist() == ["", "mxfp4_fp8"]


@pytest.mark.parametrize(
    ("stored", "run"),
    [
        ((64, 1, 8, 8), (8, 1, 1, 8)),
        ((1, 64, 8, 8), (1, 8, 1, 8)),
        ((1, 1, 4, 1), (4, 1, 4, 1)),  # more ranks of experts than GPUs
        ((2, 4, 4, 2), (2, 4, 4, 2)),
    ],
)
def test_layouts_of_experts_on_more_ranks_than_there_are_are_mended(stored, run):
    assert mended(Layout(*stored)) == run


def test_the_half_is_that_of_the_columns_as_they_are_stored():
    stored = {name: ROW[name] for name in ROW}
    assert silicon.is_test(stored) is silicon.is_test(stored | {"id": "other", "backend_version": "0.1"})
    halves = {silicon.is_test(stored | {"batch_size": str(size)}) for size in range(1, 20)}
    assert halves == {True, False}


def test_copies_count_once_and_copies_across_halves_count_in_the_test_half(tmp_path):
    half = {size: silicon.is_test(ROW | {"batch_size": str(size)}) for size in range(1, 40)}
    test = [str(size) for size, is_test in half.items() if is_test]
    other = [str(size) for size, is_test in half.items() if not is_test]
    same = {"silicon_tpot_ms": "10.001"}
    found = set_aside(tmp_path, {"batch_size": other[0]} | same, {"batch_size": test[0], "silicon_tpot_ms": "10.0"})
    assert found == {"leaked": 1}
    found = set_aside(tmp_path, {"batch_size": test[0]} | same, {"batch_size": test[1]} | same)
    assert found == {"repeated": 1}


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("disaggregated_bare", {"mode": "disagg", "batch_size": ""}),
        ("disaggregated", {"mode": "disagg", "batch_size": "", "decode_batch_size": "64"}),
        ("rack", {"system": "gb200"}),
        ("rack", {"tp_size": "16", "moe_tp_size": "16"}),
        ("attention_dp", {"tp_size": "1", "attention_dp_size": "2"}),
        ("seats", {"model_path": "openai/gpt-oss-120b", "precision": "fp4", "batch_size": "512"}),
    ],
)
def test_every_rule_sets_its_rows_aside(tmp_path, rule, change):
    assert set_aside(tmp_path, {}, change) == {rule: 1}
    assert rule in silicon.reasons()


def test_what_is_not_as_it_should_be_is_named(tmp_path):
    with pytest.raises(FileFormatError, match="line 2"):
        silicon.read(rows_of(tmp_path, {"tp_size": "two"}))
    with pytest.raises(FileFormatError, match="Qwen/Qwen3-32B in int4, which silicon"):
        silicon.read(rows_of(tmp_path, {"precision": "int4"}))
    empty = tmp_path / "empty.csv"
    empty.write_text("id\n")
    with pytest.raises(FileFormatError, match="column attention_dp_size is missing"):
        silicon.read(empty)


def test_the_rows_of_the_installed_package_are_all_accounted_for():
    points, aside = silicon.read()
    assert len(points) + aside.total() == 5221
    assert (aside["disaggregated_bare"], aside["disaggregated"], aside["attention_dp"], aside["rack"]) == (
        1328, 274, 76, 77,
    )  # fmt: skip
    assert (int(points.is_test.sum()), len(points)) == (1387, 2658)
