"""PipeWeave's GEMMs: the FP8 tables and the samples of kernels."""

import pytest

pytest.importorskip("polars", reason="needs the extra [data]")

import polars as pl

from synperf.errors import FileFormatError
from synperf.measurements import audit_file, read_file

from .shared import shared

FP8 = {"gpu": "H800", "m": 64, "n": 4096, "k": 4096, "duration_us": 20.0}
TYPES = {"gpu": pl.String, "m": pl.Int32, "n": pl.Int32, "k": pl.Int32, "duration_us": pl.Float64}
SAMPLE = {
    "family": "gemm_bf16", "gpu": "A40", "selection": "worst100_final", "biased": True, "duration_us": 60.0,
    "m": 64.0, "n": 4096.0, "k": 4096.0,
}  # fmt: skip


def fp8(tmp_path, *rows, name="some.parquet", **columns):
    frame = pl.DataFrame([FP8 | row for row in rows], schema_overrides=TYPES)
    frame.with_columns(**columns).write_parquet(tmp_path / name)
    return tmp_path / name


def samples(tmp_path, *rows):
    pl.DataFrame([SAMPLE | row for row in rows]).write_parquet(tmp_path / "samples.parquet")
    return tmp_path / "samples.parquet"


def test_an_fp8_row_is_vllms_block_scaled_cutlass_kernel(tmp_path):
    rows = read_file(fp8(tmp_path, {}))
    names = ("gpu", "family", "engine", "version", "kernel", "kernel_source", "dtype", "source")
    assert [rows.column(name)[0] for name in names] == [
        "h800", "gemm", "vllm", "unknown", "cutlass_scaled_mm", "pipeweave_gemm_fp8", "fp8_block", "some.parquet",
    ]  # fmt: skip
    assert [rows.column(name)[0] for name in ("m", "n", "k", "batch")] == [64, 4096, 4096, 1]
    assert (rows.time_s[0], rows.is_test[0], rows.biased[0]) == (pytest.approx(20e-6), False, False)
    assert rows.call().kernel == "cutlass_scaled_mm"


def test_the_fp8_table_with_a_prediction_is_the_test_table(tmp_path):
    assert read_file(fp8(tmp_path, {}, pipeweave_pred_us=pl.lit(21.0))).is_test.all()


def test_without_a_prediction_the_name_tells_test_rows(tmp_path):
    assert read_file(fp8(tmp_path, {}, name="gemm_test.parquet")).is_test.all()
    assert not read_file(fp8(tmp_path, {}, name="latest.parquet")).is_test.any()


def test_columns_of_the_same_names_but_other_types_are_a_users(tmp_path):
    pl.DataFrame([FP8]).write_parquet(tmp_path / "mine.parquet")  # whole numbers of 64 bits
    rows = read_file(tmp_path / "mine.parquet")
    assert (rows.engine[0], rows.kernel[0], rows.column("dtype")[0]) == ("torch", "cublas", "bf16")


def test_a_bf16_sample_is_cublas_under_torch_and_biased(tmp_path):
    rows = read_file(samples(tmp_path, {}))
    assert (rows.engine[0], rows.kernel[0], rows.column("dtype")[0]) == ("torch", "cublas", "bf16")
    assert (rows.biased[0], rows.is_test[0]) == (True, False)


def test_bias_is_what_the_file_says(tmp_path):
    assert read_file(samples(tmp_path, {"biased": False}, {"m": 65.0})).biased.tolist() == [False, True]


def test_samples_that_are_no_usable_gemm_are_dropped_with_a_reason(tmp_path):
    others = [{"family": "rmsnorm", "m": None}, {"k": None}, {"gpu": "B200"}, {"m": 1.5}, {"duration_us": -1.0}]
    (a40, b200) = audit_file(samples(tmp_path, {}, *others))
    assert a40.gpu == "a40"
    assert a40.dropped == {
        "not a GEMM": 1,
        "the source gives no k": 1,
        "a size is missing, or no whole number from 1 to 2147483647": 1,
        "the time is zero, negative or missing": 1,
    }
    assert (a40.rows, a40.kept, a40.keys) == (5, 1, 1)
    assert b200.dropped == {"B200: left out by the source's authors, 132 CTAs on 148 SMs": 1}


def test_a_gpu_that_is_not_in_the_catalog_is_a_reason(tmp_path):
    path = fp8(tmp_path, {}, {"gpu": "H900"})
    assert {file.gpu: dict(file.dropped) for file in audit_file(path)} == {
        "h800": {}, "H900": {"the GPU is not in the catalog yet": 1},
    }  # fmt: skip
    assert len(read_file(path)) == 1


def test_a_file_of_which_nothing_is_left_is_refused(tmp_path):
    reason = "some.parquet: no row can be used: 2 the GPU is not in the catalog yet"
    with pytest.raises(FileFormatError, match=reason):
        read_file(fp8(tmp_path, {"gpu": "H900"}, {"gpu": "H901"}))


def test_duplicates_are_one_row(tmp_path):
    rows = read_file(samples(tmp_path, {}, {"duration_us": 70.0, "selection": "worst100_earlier"}))
    assert (len(rows), rows.samples[0], rows.time_s[0]) == (1, 2, pytest.approx(65e-6))


def test_text_where_numbers_should_be_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match=r"samples.parquet: column m holds String; right would be numbers"):
        read_file(samples(tmp_path, {"m": "64"}))


@pytest.mark.parametrize(("name", "kept", "is_test"), [("train", 16_818, False), ("test", 7_150, True)])
def test_every_row_of_the_fp8_tables_is_used(name, kept, is_test):
    rows = read_file(shared(f"pipeweave_gemm_fp8_{name}.parquet"))
    assert len(rows) == kept
    assert (rows.is_test == is_test).all()
    assert set(rows.gpu) == ({"h20", "h800", "h100_sxm", "h200_sxm"} if is_test else {"h20", "h800"})


def test_of_the_samples_953_gemms_are_used_and_the_rest_has_reasons():
    path = shared("pipeweave_kernel_samples.parquet")
    files, rows = audit_file(path), read_file(path)
    assert (sum(file.rows for file in files), sum(file.kept for file in files)) == (87_500, 953)
    assert all(file.rows == file.kept + sum(file.dropped.values()) for file in files)
    assert sum(file.dropped.get("the source gives no k", 0) for file in files) == 419
    assert (len(rows), rows.biased.all(), rows.is_test.any()) == (949, True, False)
