"""NeuSight's linear layers and batched products."""

import pytest

pytest.importorskip("polars", reason="needs the extra [data]")

import polars as pl

from synperf.measurements import audit_file, read_file

from .shared import shared

ROW = {
    "op": "bmm", "gpu": "Tesla T4", "vendor": "nvidia", "latency_ms": 0.5, "b": 12, "m": 256, "n": 128, "k": 64,
    "torch": "2.1.0",
}  # fmt: skip
NO_GPU = "the GPU is not in the catalog yet"


def put(tmp_path, *rows, name="train.parquet"):
    pl.DataFrame([ROW | row for row in rows]).write_parquet(tmp_path / name)
    return tmp_path / name


def test_a_row_is_an_fp32_product_of_torch_with_its_batch(tmp_path):
    rows = read_file(put(tmp_path, {}))
    names = ("gpu", "engine", "version", "kernel", "kernel_source", "dtype")
    expected = ["t4", "torch", "2.1.0", "torch_fp32", "neusight_bmm", "fp32"]
    assert [rows.column(name)[0] for name in names] == expected
    assert [rows.column(name)[0] for name in ("m", "n", "k", "batch")] == [256, 128, 64, 12]
    assert rows.time_s[0] == pytest.approx(0.5e-3)
    assert (rows.is_test[0], rows.biased[0]) == (False, False)


def test_linear_and_bmm_of_one_shape_stay_two_rows(tmp_path):
    assert sorted(read_file(put(tmp_path, {}, {"op": "linear"})).kernel_source) == ["neusight_bmm", "neusight_linear"]


def test_a_file_named_test_is_all_test(tmp_path):
    assert read_file(put(tmp_path, {}, name="neusight_test_bmm.parquet")).is_test.all()


def test_rows_of_unknown_gpus_and_of_other_operations_are_dropped_with_a_reason(tmp_path):
    amd, unknown = {"gpu": "AMD Instinct MI100", "vendor": "amd"}, {"gpu": "AMD Instinct MI50", "vendor": "amd"}
    files = audit_file(put(tmp_path, {}, amd, unknown, unknown | {"m": 1}, {"op": "add"}))
    assert {file.gpu: (file.rows, file.kept, dict(file.dropped)) for file in files} == {
        "AMD Instinct MI50": (2, 0, {NO_GPU: 2}),
        "mi100": (1, 1, {}),
        "t4": (2, 1, {"not a GEMM": 1}),
    }


@pytest.mark.parametrize(
    ("name", "rows", "kept", "gpus"),
    [
        ("train_linear", 32_224, 32_224, 5),
        ("test_linear", 10_334, 10_334, 10),
        ("train_bmm", 87_623, 87_623, 5),
        ("test_bmm", 18_132, 18_132, 10),
    ],
)
def test_every_row_is_used(name, rows, kept, gpus):
    path = shared(f"neusight_{name}.parquet")
    files = audit_file(path)
    assert (sum(file.rows for file in files), sum(file.kept for file in files)) == (rows, kept)
    assert not any(file.dropped for file in files)
    found = read_file(path)
    assert (len(found), len(set(found.gpu)), set(found.is_test)) == (kept, gpus, {name.startswith("test")})
