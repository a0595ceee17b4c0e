"""Rows of the memory-bound families: quantisation tables, published files, and a user's own."""

from zlib import crc32

import pytest

pytest.importorskip("polars", reason="needs the extra [data]")

import polars as pl

from synperf import FileFormatError, evaluation
from synperf.kernels import families
from synperf.measurements import aiconfigurator, audit_file, read_file
from synperf.measurements.schema import LABELS, NUMBERS

from .shared import shared
from .tree import put

NO_GPU = "the GPU is not in the catalog yet"
MATRIX = {"op": "add", "gpu": "Tesla T4", "vendor": "nvidia", "latency_ms": 0.5, "b": 64, "h": 1000, "torch": "2.1.0"}
LAYER = {
    "gpu": "a100", "model": "some", "n_head": 64, "n_kv_head": 8, "n_embd": 8192, "n_expanded_embd": 28672,
    "use_gated_mlp": True, "num_tokens": 16, "num_tensor_parallel_workers": 4, "input_layernorm_median_ms": 0.004,
    "post_attention_layernorm_median_ms": 0.006, "mlp_act_median_ms": 0.01, "attn_rope_median_ms": 0.02,
    "add_median_ms": 0.03,
}  # fmt: skip
SAMPLE = {
    "family": "rmsnorm", "gpu": "A100", "selection": "worst", "biased": True, "duration_us": 3.0, "rows": 2.0,
    "dim": 128.0,
}  # fmt: skip


def write(tmp_path, *rows, name="rows.parquet"):
    pl.DataFrame(rows).write_parquet(tmp_path / name)
    return tmp_path / name


def sizes(rows, *names):
    return [tuple(int(rows.column(name)[i]) for name in names) for i in range(len(rows))]


def test_every_memory_bound_family_has_a_schema_that_its_calls_take():
    for name, kind in families().items():
        if kind.is_memory_bound:
            assert set(NUMBERS[name]) | set(LABELS[name]) <= set(kind.field_names())


def test_quantisation_is_of_bf16_to_the_format_of_the_table(tmp_path):
    one = {"m": 16, "k": 512, "quant_dtype": "fp8", "latency": 0.002}
    put(
        tmp_path,
        "h100_sxm",
        "VLLM",
        "0.24.0",
        [one | {"kernel_source": "static_scaled_fp8_quant"}],
        "quantize/scale_matrix",
    )
    put(tmp_path, "h100_sxm", "SGLang", "0.5.14", [one | {"kernel_source": "sglang"}], "quantize/scale_matrix")
    put(tmp_path, "h100_sxm", "TRTLLM", "1.3", [one | {"kernel_source": "torch_ops"}], "quantize/computescale")
    rows = aiconfigurator.read("h100_sxm", "quantize", tmp_path)
    assert sorted(zip(rows.engine, rows.kernel, strict=True)) == [
        ("sglang", "per_token_chain"), ("vllm", "vllm_static_quant"),
    ]  # fmt: skip
    assert sizes(rows, "rows", "dim") == [(16, 512)] * 2
    assert [(rows.column("dtype")[0], rows.column("quant_dtype")[0])] == [("bf16", "fp8")]
    assert rows.is_test.tolist() == [crc32(b"16x512xbf16xfp8") % 5 == 0] * 2


def test_element_wise_rows_have_as_many_inputs_as_tensors(tmp_path):
    rows = read_file(write(tmp_path, MATRIX, MATRIX | {"op": "addu"}, MATRIX | {"op": "tanh"}), "elementwise")
    found = dict(zip(rows.kernel_source, sizes(rows, "elements", "inputs", "outputs", "flop_per_element"), strict=True))
    assert found == {
        "neusight_add": (64_000, 2, 1, 1), "neusight_addu": (64_000, 1, 1, 1), "neusight_tanh": (64_000, 1, 1, 20),
    }  # fmt: skip
    assert set(rows.kernel) == {"torch_fp32"}


@pytest.mark.parametrize(
    ("family", "op", "call"),
    [
        ("elementwise", "add", "{elements}x2x1x1xfp32"),
        ("softmax", "softmax", "64x{dim}xfp32"),
        ("layernorm", "ln", "64x{dim}xfp32xfalse"),
    ],
)
def test_rows_of_amd_which_has_no_file_of_test_rows_are_split_by_their_fields(tmp_path, family, op, call):
    own = [MATRIX | {"op": op, "h": dim} for dim in range(1, 101)]
    amd = [row | {"gpu": "AMD Instinct MI100", "vendor": "amd"} for row in own]
    rows = read_file(write(tmp_path, *own, *amd), family)
    expected = [crc32(call.format(dim=dim, elements=64 * dim).encode()) % 5 == 0 for dim in range(1, 101)]
    assert rows.is_test[rows.gpu == "mi100"].tolist() == expected
    assert not rows.is_test[rows.gpu == "t4"].any()
    assert 0 < sum(expected) < 100


def test_an_array_may_have_more_elements_than_an_extent(tmp_path):
    rows = read_file(write(tmp_path, MATRIX | {"b": 2**20, "h": 2**13, "latency_ms": 400.0}), "elementwise")
    assert rows.column("elements")[0] == 2**33


@pytest.mark.parametrize(("op", "family"), [("softmax", "softmax"), ("ln", "layernorm")])
def test_softmax_and_layer_norm_go_over_rows(tmp_path, op, family):
    given = [MATRIX | {"op": op} | gpu for gpu in ({}, {"gpu": "AMD Instinct MI100"}, {"gpu": "AMD Instinct MI8"})]
    path = write(tmp_path, *given, name="some_test.parquet")
    rows = read_file(path, family)
    assert (sizes(rows, "rows", "dim"), rows.is_test.tolist()) == ([(64, 1000)] * 2, [True] * 2)
    assert "mi100" in set(rows.gpu)
    assert {reason for file in audit_file(path, family) for reason in file.dropped} == {NO_GPU}


def test_a_layer_of_vidur_has_two_norms_an_activation_rope_and_a_sum(tmp_path):
    path = write(tmp_path, LAYER)
    norms = read_file(path, "rmsnorm")
    assert (sizes(norms, "rows", "dim"), norms.time_s[0], norms.samples[0]) == ([(16, 8192)], pytest.approx(5e-6), 2)
    assert sizes(read_file(path, "silu_mul"), "rows", "dim") == [(16, 7168)]
    assert sizes(read_file(path, "rope"), "rows", "dim") == [(16 * 18, 128)]
    assert sizes(read_file(path, "elementwise"), "elements", "inputs") == [(16 * 8192, 2)]
    for family in ("rmsnorm", "silu_mul", "rope", "elementwise"):
        rows = read_file(path, family)
        assert (rows.engine[0], rows.kernel[0], rows.column("dtype")[0]) == ("vllm", "vllm_legacy", "fp16")
    assert norms.is_test[0] == (crc32(b"16x8192xfp16xfalse") % 5 == 0)


def test_layers_without_a_gate_have_other_operations(tmp_path):
    path = write(tmp_path, LAYER, LAYER | {"use_gated_mlp": False, "n_embd": 2560})
    for family, reason in (
        ("rmsnorm", "a layer norm"),
        ("silu_mul", "an activation without a gate"),
        ("elementwise", "two additions at once"),
    ):
        (file,) = audit_file(path, family)
        assert file.dropped[reason] == file.rows - file.kept > 0
    assert len(read_file(path, "elementwise")) == 1


def test_samples_of_pipeweave_are_biased_and_their_activation_counts_gate_and_up(tmp_path):
    silu = SAMPLE | {"family": "silu_mul", "dim": 768.0}
    path = write(tmp_path, SAMPLE, silu, SAMPLE | {"gpu": "B200"})
    norms, activations = read_file(path, "rmsnorm"), read_file(path, "silu_mul")
    assert (sizes(norms, "rows", "dim"), norms.kernel[0], norms.biased.tolist()) == ([(2, 128)], "flashinfer", [True])
    assert sizes(activations, "rows", "dim") == [(2, 384)]


def test_biased_rows_are_scored_alone_and_only_when_asked_for(tmp_path):
    rows = read_file(write(tmp_path, SAMPLE), "rmsnorm")
    (score, *_) = evaluation.evaluate("rmsnorm", "analytical", rows=[rows], biased=True).scores
    assert score.rows == 1
    with pytest.raises(Exception, match="rows: nothing was measured"):
        evaluation.evaluate("rmsnorm", "analytical", rows=[rows])


def test_a_table_of_ones_own_has_the_fields_of_the_family(tmp_path):
    (tmp_path / "mine.csv").write_text("rows,dim,quant_dtype,residual,time_us\n4096,4096,fp8,true,30\n4096,8192,,,50\n")
    rows = read_file(tmp_path / "mine.csv", "rmsnorm", gpu="h100_sxm")
    assert [rows.column(name).tolist() for name in ("dim", "quant_dtype", "residual")] == [
        [8192, 4096], ["", "fp8"], [False, True],
    ]  # fmt: skip
    assert set(rows.kernel) == {"vllm_ops"}
    (tmp_path / "few.csv").write_text("dim,time_us\n4096,30\n")
    with pytest.raises(FileFormatError, match="no column rows among dim, time_us"):
        read_file(tmp_path / "few.csv", "rmsnorm", gpu="h100_sxm")


def test_rows_of_gpus_without_the_format_are_read(tmp_path):
    (tmp_path / "old.csv").write_text("rows,dim,dtype,time_us\n4096,4096,bf16,300\n")
    assert len(read_file(tmp_path / "old.csv", "softmax", gpu="p100_pcie")) == 1


@pytest.mark.parametrize(
    ("name", "family", "kept"),
    [
        ("vidur_mlp.parquet", "rmsnorm", 28_704),
        ("neusight_test_elem.parquet", "elementwise", 4_558),
        ("neusight_train_softmax.parquet", "softmax", 12_250),
        ("pipeweave_kernel_samples.parquet", "silu_mul", 100),
    ],
)
def test_the_published_files_have_the_rows_that_the_documentation_says(name, family, kept):
    assert sum(file.kept for file in audit_file(shared(name), family)) == kept
