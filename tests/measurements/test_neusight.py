"""NeuSight's linear layers and batched products."""

from zlib import crc32

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


CONV = {
    "op": "conv", "gpu": "Tesla T4", "vendor": "nvidia", "latency_ms": 5.0, "b": 5, "in_channels": 128,
    "out_channels": 370, "kernel_size": 3, "input_size": 34, "stride": 1, "padding": 1, "torch": "2.1.0",
}  # fmt: skip


def test_a_convolution_is_square_in_nchw_and_split_by_its_fields(tmp_path):
    frame = pl.DataFrame([CONV | {"b": batch} for batch in range(1, 101)])
    frame.write_parquet(tmp_path / "conv.parquet")
    rows = read_file(tmp_path / "conv.parquet", "conv")
    assert [rows.column(name)[4] for name in ("gpu", "kernel", "dtype", "layout")] == [
        "t4",
        "torch_fp32",
        "fp32",
        "nchw",
    ]
    sizes = {
        "batch": 5,
        "height": 34,
        "width": 34,
        "kernel_h": 3,
        "kernel_w": 3,
        "stride": 1,
        "padding": 1,
        "groups": 1,
    }
    assert {name: rows.column(name)[4] for name in sizes} == sizes
    fields = [f"{batch}x128x370x34x34x3x3x1x1x1x1xfp32xnchw" for batch in range(1, 101)]
    assert rows.is_test.tolist() == [crc32(one.encode()) % 5 == 0 for one in fields]


def test_every_convolution_is_used():
    path = shared("neusight_train_conv.parquet")
    found = read_file(path, "conv")
    assert (len(found), len(set(found.gpu)), int(found.is_test.sum())) == (24_662, 5, 4783)
