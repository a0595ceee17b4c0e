"""PipeWeave's rows: the FP8 tables, and the GEMMs and expert layers among the samples of kernels."""

from zlib import crc32

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


LAYER = {
    "family": "fused_moe", "gpu": "L20", "selection": "complete_default_config", "biased": False, "duration_us": 3000.0,
    "tokens": 1024.0, "experts": 64.0, "top_k": 6.0, "hidden": 3584.0, "intermediate": 1536.0,
}  # fmt: skip
TUNED = {"family": "fused_moe_tuned", "selection": "autotune_within_1pct_of_best", "biased": True}


def layers(tmp_path, *rows):
    pl.DataFrame([LAYER | row for row in rows]).write_parquet(tmp_path / "samples.parquet")
    return tmp_path / "samples.parquet"


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


def test_an_expert_layer_is_the_first_pass_of_sglangs_triton_kernel_with_equal_loads(tmp_path):
    rows = read_file(layers(tmp_path, {}), "fused_moe")
    names = ("gpu", "engine", "version", "kernel", "kernel_source", "dtype", "gated", "distribution")
    expected = ["l20", "sglang", "unknown", "triton_w13", "pipeweave_fused_moe", "bf16", True, "balanced"]
    assert [rows.column(name)[0] for name in names] == expected
    sizes = ("tokens", "hidden", "inter", "experts", "topk", "tp", "ep")
    assert [rows.column(name)[0] for name in sizes] == [1024, 3584, 1536, 64, 6, 1, 1]
    assert (rows.time_s[0], rows.biased[0]) == (pytest.approx(3e-3), False)


def test_layers_are_held_out_by_their_tokens(tmp_path):
    rows = read_file(layers(tmp_path, *({"tokens": float(tokens)} for tokens in range(2, 102))), "fused_moe")
    expected = [crc32(str(tokens).encode()) % 5 == 0 for tokens in rows.column("tokens")]
    assert rows.is_test.tolist() == expected
    assert 0 < rows.is_test.mean() < 1


def test_tuned_tiles_are_rows_of_their_own_biased_and_never_test(tmp_path):
    tuned = [TUNED | {"tokens": float(tokens), "duration_us": 2800.0} for tokens in range(1000, 1050)]
    rows = read_file(layers(tmp_path, {}, *tuned), "fused_moe")
    assert (len(rows), set(rows.kernel)) == (51, {"triton_w13"})
    assert not rows.take(rows.biased).is_test.any()
    assert set(rows.take(rows.biased).kernel_source) == {"pipeweave_fused_moe_tuned"}


def test_what_is_no_expert_layer_is_dropped_with_a_reason(tmp_path):
    (audit,) = audit_file(layers(tmp_path, {}, {"family": "gemm_bf16", "tokens": None}), "fused_moe")
    assert (audit.rows, audit.kept, dict(audit.dropped)) == (2, 1, {"not an expert layer": 1})


def test_the_whole_grid_of_expert_layers_is_used():
    rows = read_file(shared("pipeweave_kernel_samples.parquet"), "fused_moe")
    grid = rows.take(~rows.biased)
    assert (len(grid), len(set(grid.gpu)), set(grid.samples)) == (27_027, 11, {1})
    assert 0.16 < grid.is_test.mean() < 0.18
    tuned = rows.take(rows.biased)
    assert (len(tuned), int(tuned.samples.sum())) == (1_754, 58_590)
