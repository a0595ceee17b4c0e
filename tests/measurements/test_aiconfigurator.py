"""The reader of aiconfigurator-core: every rule on a tree of a few rows."""

import numpy as np
import pytest

pytest.importorskip("polars", reason="needs the extra [data]")

from synperf.errors import FileFormatError, MissingExtraError, UnknownNameError
from synperf.measurements import aiconfigurator

from .tree import put, row

BF16 = row("torch.nn.functional.linear", "bfloat16")


def only(root, gpu="h100_sxm"):
    rows = aiconfigurator.read(gpu, root=root)
    assert len(rows) == 1
    names = ("engine", "version", "kernel", "kernel_source", "dtype", "m", "n", "k", "batch")
    return {name: rows.column(name)[0] for name in names}


def dropped(root):
    return {reason: count for file in aiconfigurator.audit(root=root) for reason, count in file.dropped.items()}


def test_a_row_becomes_a_row_of_the_schema(tmp_path):
    source = put(tmp_path, "h100_sxm", "VLLM", "0.24.0", [BF16])
    assert only(tmp_path) == {
        "engine": "vllm", "version": "0.24.0", "kernel": "cublas", "kernel_source": "torch.nn.functional.linear",
        "dtype": "bf16", "m": 16, "n": 32, "k": 64, "batch": 1,
    }  # fmt: skip
    rows = aiconfigurator.read("h100_sxm", root=tmp_path)
    assert (rows.gpu[0], rows.family[0], rows.source[0]) == ("h100_sxm", "gemm", source)


def test_milliseconds_become_seconds(tmp_path):
    put(tmp_path, "h100_sxm", "VLLM", "0.24.0", [BF16 | {"latency": 0.25}])
    assert aiconfigurator.read("h100_sxm", root=tmp_path).time_s == pytest.approx(0.25e-3)


@pytest.mark.parametrize("latency", [0.01 / 1000, 0.01 * 1000], ids=["seconds", "microseconds"])
def test_a_table_in_another_unit_is_refused(tmp_path, latency):
    put(tmp_path, "h100_sxm", "VLLM", "0.24.0", [BF16 | {"latency": latency}])
    with pytest.raises(FileFormatError, match=r"gemm_perf.parquet: latency should be in milliseconds"):
        aiconfigurator.read("h100_sxm", root=tmp_path)


def test_duplicates_are_one_row_with_their_median_and_half_spread(tmp_path):
    times = [0.010, 0.012, 0.018]
    put(tmp_path, "h100_sxm", "VLLM", "0.24.0", [BF16 | {"latency": time} for time in times] + [BF16 | {"m": 17}])
    rows = aiconfigurator.read("h100_sxm", root=tmp_path)
    assert rows.samples.tolist() == [3, 1]
    assert rows.time_s[0] == pytest.approx(0.012e-3)
    assert rows.spread == pytest.approx([(0.018 - 0.010) / 2 / 0.012, 0.0])


def test_the_version_is_that_of_the_row_not_of_the_folder(tmp_path):
    put(tmp_path, "h100_sxm", "VLLM", "0.24.0", [BF16 | {"version": "0.24.1.dev3"}])
    assert only(tmp_path)["version"] == "0.24.1.dev3"


def test_two_kernel_sources_of_one_shape_stay_two_rows(tmp_path):
    put(tmp_path, "h100_sxm", "SGLang", "0.5.14", [row("sglang_torch_linear", "bfloat16"), row("sglang", "bfloat16")])
    rows = aiconfigurator.read("h100_sxm", root=tmp_path)
    assert rows.kernel.tolist() == ["cublas", "cublas"]
    assert sorted(rows.kernel_source) == ["sglang", "sglang_torch_linear"]


def test_torch_pools_the_frameworks_and_names_them(tmp_path):
    fp8 = row("CutlassFP8ScaledMMLinearKernel", "fp8")
    put(tmp_path, "h100_sxm", "VLLM", "0.24.0", [BF16 | {"latency": 0.010}, fp8])
    put(tmp_path, "h100_sxm", "SGLang", "0.5.14", [row("sglang_torch_linear", "bfloat16", 0.011)])
    put(tmp_path, "h100_sxm", "TRTLLM", "1.3.0rc20", [row("torch_flow", "bfloat16", 0.013), row("torch_flow", "fp8")])
    rows = aiconfigurator.read_torch("h100_sxm", root=tmp_path)
    assert (len(rows), rows.engine[0], rows.kernel[0], rows.samples[0]) == (1, "torch", "cublas", 3)
    assert rows.time_s[0] == pytest.approx(0.011e-3)
    assert rows.version[0] == "sglang 0.5.14 + trtllm 1.3.0rc20 + vllm 0.24.0"
    assert rows.source[0].count(" + ") == 2


def test_int8_weight_only_of_sglang_0_5_6_on_h100_is_w8a8(tmp_path):
    put(tmp_path, "h100_sxm", "SGLang", "0.5.6.post2", [row("sglang", "int8_wo")])
    assert (only(tmp_path)["dtype"], only(tmp_path)["kernel"]) == ("int8", "cutlass_int8")


def test_int8_weight_only_elsewhere_is_no_format(tmp_path):
    put(tmp_path, "h100_sxm", "SGLang", "0.5.14", [row("sglang", "int8_wo"), row("sglang_torch_linear", "bfloat16")])
    assert only(tmp_path)["dtype"] == "bf16"
    assert dropped(tmp_path) == {"no such format in calls": 1}


def test_eager_rows_of_vllm_are_dropped(tmp_path):
    put(tmp_path, "h100_sxm", "VLLM", "0.24.0", [BF16, row("DeepGemmFp8BlockScaledMMKernel", "fp8_block", 0.06)])
    assert only(tmp_path)["dtype"] == "bf16"
    assert dropped(tmp_path) == {"timed eagerly, without a CUDA graph: host-bound, a floor of 55 to 282 us": 1}


def test_the_stub_of_the_rtx_pro_6000_is_dropped_as_a_stub(tmp_path):
    rtx = {"device": "NVIDIA RTX PRO 6000 Blackwell Server Edition"}
    put(tmp_path, "rtx_pro_6000_server", "VLLM", "0.24.0", [row("CutlassFp8BlockScaledMMKernel", "fp8_block", **rtx)])
    assert dropped(tmp_path) == {"stub of 518 rows, timed eagerly": 1}


@pytest.mark.parametrize("gemm_dtype", ["int4_wo", "int8_wo", "sq"])
def test_weight_only_rows_of_the_a100_are_dropped(tmp_path, gemm_dtype):
    weight_only = row("trt_flow_/some/PLUGIN", gemm_dtype)
    put(tmp_path, "a100_sxm", "TRTLLM", "1.0.0", [weight_only, row("torch_flow", "bfloat16")])
    assert only(tmp_path, "a100_sxm")["dtype"] == "bf16"
    (reason,) = dropped(tmp_path)
    assert reason.startswith("quantised to 1.024 us ticks")


def test_intel_is_out_of_scope(tmp_path):
    put(tmp_path, "b60", "VLLM", "0.20.0", [row("vllm_default", "bfloat16"), row("vllm_default", "fp8")])
    assert dropped(tmp_path) == {"Intel GPU: out of scope": 2}
    assert aiconfigurator.gpus(root=tmp_path) == ()


def test_rows_of_another_device_are_dropped(tmp_path):
    devices = [BF16 | {"device": "NVIDIA H200"}, BF16 | {"device": "NVIDIA H100", "m": 1}]
    put(tmp_path, "h200_sxm", "VLLM", "0.24.0", devices)
    assert only(tmp_path, "h200_sxm")["m"] == 16
    assert dropped(tmp_path) == {"the device column is another GPU": 1}


@pytest.mark.parametrize("latency", [0.0, -1.0, None, float("nan"), float("inf")])
def test_rows_without_a_time_are_dropped(tmp_path, latency):
    put(tmp_path, "h100_sxm", "VLLM", "0.24.0", [BF16, BF16 | {"m": 1, "latency": latency}])
    assert only(tmp_path)["m"] == 16
    assert dropped(tmp_path) == {"the time is zero, negative or missing": 1}


def test_an_unknown_kernel_source_is_dropped(tmp_path):
    put(tmp_path, "h100_sxm", "VLLM", "0.24.0", [BF16, row("SomethingNew", "bfloat16")])
    assert only(tmp_path)["kernel_source"] == "torch.nn.functional.linear"
    assert dropped(tmp_path) == {"unknown kernel source": 1}


def test_the_audit_accounts_for_every_row(tmp_path):
    put(tmp_path, "h100_sxm", "VLLM", "0.24.0", [BF16, BF16, BF16 | {"m": 1}, BF16 | {"latency": 0.0}])
    (file,) = aiconfigurator.audit(root=tmp_path)
    assert (file.rows, file.kept, file.keys, sum(file.dropped.values())) == (4, 3, 2, 1)


def test_a_table_without_a_column_is_refused(tmp_path):
    import polars as pl

    name = put(tmp_path, "h100_sxm", "VLLM", "0.24.0", [BF16])
    pl.read_parquet(tmp_path / name).drop("kernel_source").write_parquet(tmp_path / name)
    with pytest.raises(FileFormatError, match=r"not a table with the columns .*kernel_source"):
        aiconfigurator.read("h100_sxm", root=tmp_path)


def test_a_gpu_without_a_table_is_unknown(tmp_path):
    put(tmp_path, "h100_sxm", "VLLM", "0.24.0", [BF16])
    with pytest.raises(UnknownNameError, match="no measured gemm table named 'h101'; nearest: h100_sxm"):
        aiconfigurator.read("h101", root=tmp_path)


def test_a_family_without_tables_is_unknown(tmp_path):
    with pytest.raises(
        UnknownNameError,
        match="no measured family named 'conv'; known: attention, fused_moe, gemm, linear_attention, mla, "
        "quantize, sparse_attention; of others right would be rows of your own: --rows FILE",
    ):
        aiconfigurator.gpus("conv", root=tmp_path)


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr(aiconfigurator, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'synperf\[data\]'"):
        aiconfigurator.gpus()


def test_rows_are_the_same_whatever_the_order_in_the_file(tmp_path):
    some = [BF16 | {"m": m, "latency": 0.01 * m} for m in (3, 1, 2)]
    put(tmp_path / "a", "h100_sxm", "VLLM", "0.24.0", some)
    put(tmp_path / "b", "h100_sxm", "VLLM", "0.24.0", some[::-1])
    one, other = (aiconfigurator.read("h100_sxm", root=tmp_path / name) for name in "ab")
    assert np.array_equal(one.time_s, other.time_s)
    assert one.column("m").tolist() == [1, 2, 3]
