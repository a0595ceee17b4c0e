"""A user's own table: which columns are read, what is filled in, what is refused and where."""

import json
import subprocess
import sys

import pytest

from synperf.errors import FileFormatError, UnknownNameError
from synperf.hardware import gpu
from synperf.measurements import audit_file, read_file, user

LINE = "4096,4096,4096,200"
RANGE = "must be a whole number from 1 to 2147483647"


def put(tmp_path, text, name="mine.csv"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / name


def read(tmp_path, text, gpu="h100_sxm", **given):
    return read_file(put(tmp_path, text), gpu=gpu, **given)


def refused(tmp_path, text, gpu="h100_sxm"):
    with pytest.raises(FileFormatError) as error:
        read(tmp_path, text, gpu)
    return str(error.value)


def test_three_sizes_and_a_time_are_enough(tmp_path):
    rows = read(tmp_path, f"m,n,k,time_us\n{LINE}\n")
    names = ("gpu", "family", "engine", "version", "kernel", "kernel_source", "dtype", "source", "batch")
    assert [rows.column(name)[0] for name in names] == [
        "h100_sxm", "gemm", "torch", "unknown", "cublas", "cublas", "bf16", "mine.csv", 1,
    ]  # fmt: skip
    assert rows.time_s == pytest.approx(200e-6)
    assert (rows.is_test[0], rows.biased[0], rows.samples[0]) == (False, False, 1)


def test_every_documented_column_is_read(tmp_path):
    head = "gpu,family,m,n,k,batch,dtype,engine,kernel,version,is_test,biased,latency_ms"
    rows = read(tmp_path, f"{head}\nA100,gemm,512,256,128,8,fp16,sglang,cublas,0.9,true,yes,0.1\n", None)
    names = ("gpu", "m", "n", "k", "batch", "dtype", "engine", "kernel", "version", "is_test", "biased")
    assert [rows.column(name)[0] for name in names] == [
        "a100_sxm", 512, 256, 128, 8, "fp16", "sglang", "cublas", "0.9", True, True,
    ]  # fmt: skip


def test_biased_rows_are_marked_and_their_column_is_not_ignored(tmp_path):
    path = put(
        tmp_path, f"m,n,k,biased,time_us\n1,64,64,true,9\n2,64,64,,9\n3,64,64,0,9\n{LINE.replace(',200', ',1,200')}\n"
    )
    rows = read_file(path, gpu="h100_sxm")
    assert rows.biased.tolist() == [True, False, False, True]
    assert rows.is_test.tolist() == [False] * 4
    assert audit_file(path, gpu="h100_sxm")[0].ignored == ()


def test_engine_and_kernel_follow_from_the_format_as_predict_has_it(tmp_path):
    rows = read(tmp_path, f"m,n,k,dtype,time_us\n{LINE.replace(',200', ',fp8,100')}\n")
    assert (rows.engine[0], rows.kernel[0]) == ("vllm", "cutlass_fp8")


@pytest.mark.parametrize(
    ("variant", "phase", "seq_len", "kernel"),
    [
        ("kda", "prefill", 64, "flashkda"),
        ("kda", "decode", 1, "recurrent_packed"),
        ("mamba2", "prefill", 64, "chunked"),
    ],
)
def test_the_kernel_follows_from_what_the_call_says_as_predict_has_it(tmp_path, variant, phase, seq_len, kernel):
    head = "variant,phase,batch,seq_len,heads,head_dim,state_dim,groups,chunk,time_us"
    path = put(tmp_path, f"{head}\n{variant},{phase},1,{seq_len},4,32,16,4,64,9\n")
    found = read_file(path, "linear_attention", gpu="h100_sxm", engine="vllm")
    assert found.kernel.tolist() == [kernel]
    assert found.call().kernel == kernel


def test_arguments_are_for_rows_that_name_none(tmp_path):
    text = f"m,n,k,time_us,gpu,engine\n{LINE},h200_sxm,\n{LINE},,trtllm\n"
    rows = read(tmp_path, text, engine="sglang", kernel="torch.nn.functional.linear")
    assert list(zip(rows.gpu, rows.engine, strict=True)) == [("h100_sxm", "trtllm"), ("h200_sxm", "sglang")]
    assert set(rows.kernel) == {"cublas"}
    assert set(rows.kernel_source) == {"torch.nn.functional.linear"}


def test_the_gpu_may_be_an_object_or_an_alias(tmp_path):
    assert read(tmp_path, f"m,n,k,time_us\n{LINE}\n", gpu("h200_sxm")).gpu[0] == "h200_sxm"
    assert read(tmp_path, f"m,n,k,time_us\n{LINE}\n", "NVIDIA H200").gpu[0] == "h200_sxm"
    with pytest.raises(UnknownNameError, match="no GPU named 'h999'"):
        read(tmp_path, f"m,n,k,time_us\n{LINE}\n", "h999")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("time_s", 2e-4), ("latency_ms", 0.2), ("duration_us", 200), ("elapsed_ns", 200_000), ("Runtime (us)", 200),
        ("measured_s", 2e-4), ("Duration (ns)", 200_000), ("time_µs", 200), ("time [μs]", 200), ("Latency-ms", 0.2),
    ],
)  # fmt: skip
def test_the_unit_is_in_the_name_of_the_column(tmp_path, column, value):
    assert read(tmp_path, f"m,n,k,{column}\n4096,4096,4096,{value}\n").time_s == pytest.approx(200e-6)


@pytest.mark.parametrize("column", ["time", "latency", "Duration"])
def test_a_time_without_a_unit_is_refused(tmp_path, column):
    bare = column.lower()
    right = f"{bare}_s, {bare}_ms, {bare}_us, {bare}_ns"
    expected = f"mine.csv: column {column} has no unit in its name; right would be one of {right}"
    assert refused(tmp_path, f"m,n,k,{column}\n{LINE}\n") == expected


def test_a_table_without_times_or_with_two_is_refused(tmp_path):
    none = "mine.csv: no column of times among m, n, k, cost; right would be one of time, latency, duration, elapsed,"
    assert refused(tmp_path, f"m,n,k,cost\n{LINE}\n").startswith(none)
    two = "mine.csv: columns time_us and latency_ms are both times; keep one"
    assert refused(tmp_path, f"m,n,k,time_us,latency_ms\n{LINE},1\n") == two


def test_a_missing_field_is_named(tmp_path):
    assert refused(tmp_path, "m,n,time_us\n1,2,3\n") == "mine.csv: no column k among m, n, time_us"


def test_a_field_that_would_be_overlooked_is_refused(tmp_path):
    message = refused(tmp_path, f"m,n,k,time_us,batch_size\n{LINE},2\n")
    assert message == "mine.csv: column 'batch_size' looks like the field batch; rename it to that or to something else"


def test_other_columns_are_ignored_and_listed(tmp_path):
    path = put(tmp_path, f"layer,m,n,k,time_us,tile_m,date\nq,{LINE},128,today\n")
    (file,) = audit_file(path, gpu="h100_sxm")
    assert file.ignored == ("layer", "tile_m", "date")
    assert (file.source, file.gpu, file.rows, file.kept, file.keys, file.dropped) == (
        "mine.csv", "h100_sxm", 1, 1, 1, {},
    )  # fmt: skip


@pytest.mark.parametrize("cell", ["0", "-5", "1.5", "", "x", "3000000000", "1_0"])
def test_a_size_that_is_none_is_refused_with_its_row(tmp_path, cell):
    message = refused(tmp_path, f"m,n,k,time_us\n{LINE}\n{cell},4096,4096,200\n")
    assert message == f"mine.csv row 2 (line 3): m {RANGE}, got {cell!r}"


@pytest.mark.parametrize("cell", ["0", "-1", "nan", "inf", "-inf", "1e999", "", "fast", "1_0"])
def test_a_time_that_is_none_is_refused_with_its_row(tmp_path, cell):
    message = refused(tmp_path, f"m,n,k,time_us\n{LINE}\n\n4096,4096,4096,{cell}\n")
    assert message == f"mine.csv row 2 (line 4): time_us must be a positive number, got {cell!r}"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("unit", "cell"), [("us", "1e308"), ("us", "1.1e12"), ("s", "1.1e6"), ("ns", "1e16")])
def test_a_time_that_no_kernel_takes_is_refused_with_its_row(tmp_path, unit, cell):
    message = refused(tmp_path, f"m,n,k,time_{unit}\n4096,4096,4096,{cell}\n")
    said = "must be at most 1e+06 seconds, which no kernel takes"
    assert message == f"mine.csv row 1 (line 2): time_{unit} {said}, got {cell!r}"


@pytest.mark.filterwarnings("error")
def test_a_time_that_is_no_second_at_all_is_refused(tmp_path):
    message = refused(tmp_path, "m,n,k,time_us\n4096,4096,4096,1e-320\n")
    assert message == "mine.csv row 1 (line 2): time_us must be a positive number, got '1e-320'"


@pytest.mark.parametrize(
    ("column", "cell", "wrong"),
    [
        ("dtype", "fp99", "dtype: no dtype named 'fp99'; nearest: fp8, fp32, fp16"),
        ("dtype", "nvfp4", "dtype: H100 SXM has no nvfp4 math; it has fp32, tf32, fp16, bf16, fp8, fp8_block, int8"),
        ("engine", "vlm", "engine: no engine named 'vlm'; nearest: vllm"),
        ("kernel", "deepgemm", "kernel: deepgemm multiplies fp8_block, not bf16; right would be cublas, plain"),
        ("gpu", "h21", "no GPU named 'h21'; nearest: h20, mi210, gh200"),
        ("family", "gemn", "family is 'gemn'; right would be gemm, or another family's name"),
        ("is_test", "maybe", "is_test must be true or false, got 'maybe'"),
        ("biased", "perhaps", "biased must be true or false, got 'perhaps'"),
    ],
)
def test_a_name_that_is_none_is_refused_with_its_row(tmp_path, column, cell, wrong):
    message = refused(tmp_path, f"m,n,k,time_us,{column}\n{LINE},\n{LINE},{cell}\n")
    assert message == f"mine.csv row 2 (line 3): {wrong}"


def test_a_row_without_a_gpu_is_refused(tmp_path):
    message = refused(tmp_path, f"m,n,k,time_us\n{LINE}\n", None)
    assert message.startswith("mine.csv row 1 (line 2): gpu is empty, and none is given for all rows; right would be")


def test_no_rows_under_a_header_are_refused(tmp_path):
    assert refused(tmp_path, "m,n,k,time_us\n") == "mine.csv: there are no rows under the header"


def test_equal_calls_are_one_row(tmp_path):
    rows = read(tmp_path, "m,n,k,time_us\n" + "".join(f"4096,4096,4096,{t}\n" for t in (210, 190, 200)))
    assert (rows.time_s[0], rows.samples[0]) == (pytest.approx(200e-6), 3)
    assert rows.spread == pytest.approx([10 / 200])


def test_rows_of_other_families_are_left_out_and_counted(tmp_path):
    head = "family,m,n,k,rows,kernel_h,time_us\n"
    path = put(tmp_path, f"{head}conv,,,,,3,9\ngemm,4096,4096,4096,,,200\nsoftmax,,,,64,,9\nconv,,,,,3,9\n")
    assert read_file(path, gpu="h100_sxm").column("m").tolist() == [4096]
    dropped = [(audit.gpu, audit.kept, dict(audit.dropped)) for audit in audit_file(path, gpu="h100_sxm")]
    assert dropped == [("h100_sxm", 1, {}), ("", 0, {"are of conv": 2}), ("", 0, {"are of softmax": 1})]


def test_a_wrong_cell_is_named_with_its_own_row_beside_other_families(tmp_path):
    message = refused(tmp_path, f"family,m,n,k,time_us\nconv,,,,9\ngemm,{LINE}\ngemm,0,1,1,9\n")
    assert message == f"mine.csv row 3 (line 4): m {RANGE}, got '0'"


def test_a_file_without_a_row_of_the_family_is_refused(tmp_path):
    message = refused(tmp_path, "family,rows,time_us\nconv,1,9\nconv,2,9\n")
    assert message == "mine.csv: no row can be used: 2 are of conv"


def test_cold_rows_are_read_where_there_are_no_warm_ones(tmp_path):
    cold, warm = f"m,n,k,time_us,l2\n{LINE},cold\n", f"{LINE.replace('200', '180')},warm\n"
    assert read(tmp_path, cold).time_s == pytest.approx(200e-6)
    path = put(tmp_path, cold + warm)
    assert read_file(path, gpu="h100_sxm").time_s == pytest.approx(180e-6)
    (audit,) = audit_file(path, gpu="h100_sxm")
    assert (audit.rows, audit.kept, sum(audit.dropped.values()), audit.ignored) == (2, 1, 1, ())
    assert "l2 must be warm or cold, got 'hot'" in refused(tmp_path, cold.replace("cold", "hot"))


def test_rows_are_test_rows_only_where_the_table_says_so(tmp_path):
    lines = "".join(f"{m},4096,4096,200,{mark}\n" for m, mark in ((1, "true"), (2, "False"), (3, ""), (4, "1")))
    assert read(tmp_path, "m,n,k,time_us,is_test\n" + lines).is_test.tolist() == [True, False, False, True]


def test_json_lines_are_read_whatever_the_name(tmp_path):
    lines = [{"m": 4096, "n": 4096, "k": 4096, "time_us": 200}, {"k": 64, "n": 64, "m": 64, "time_us": 9.5}]
    path = put(tmp_path, "".join(json.dumps(line) + "\n" for line in lines), "mine.txt")
    assert read_file(path, gpu="h100_sxm").column("m").tolist() == [64, 4096]


def test_json_lines_name_a_wrong_cell(tmp_path):
    lines = [{"m": 4096, "n": 4096, "k": 4096, "time_us": 200}, {"m": True, "n": 1, "k": [1], "time_us": None}]
    path = put(tmp_path, "".join(json.dumps(line) + "\n" for line in lines), "mine.jsonl")
    with pytest.raises(FileFormatError, match=rf"mine.jsonl row 2 \(line 2\): m {RANGE}, got True"):
        read_file(path, gpu="h100_sxm")


def test_parquet_is_read_like_csv(tmp_path):
    pl = pytest.importorskip("polars", reason="needs the extra [data]")
    columns = {"m": [4096, 64], "n": [4096, 64], "k": [4096, 64], "batch": [None, 2], "time_us": [200.0, 9.5]}
    pl.DataFrame(columns).write_parquet(tmp_path / "mine.parquet")
    rows = read_file(tmp_path / "mine.parquet", gpu="h100_sxm")
    assert (rows.column("batch").tolist(), rows.time_s.tolist()) == ([2, 1], pytest.approx([9.5e-6, 200e-6]))
    pl.DataFrame(columns | {"time_us": [200.0, None]}).write_parquet(tmp_path / "mine.parquet")
    with pytest.raises(FileFormatError, match=r"mine.parquet row 2: time_us must be a positive number, got None"):
        read_file(tmp_path / "mine.parquet", gpu="h100_sxm")


def test_text_formats_need_no_polars_and_parquet_says_that_it_does(tmp_path):
    put(tmp_path, f"m,n,k,time_us\n{LINE}\n", "mine.csv")
    put(tmp_path, '{"m": 4096, "n": 4096, "k": 4096, "time_us": 200}\n', "mine.jsonl")
    put(tmp_path, "PAR1", "mine.parquet")
    code = """
import sys
sys.modules["polars"] = None
from synperf.measurements import read_files
from synperf.errors import MissingExtraError
assert len(read_files(["mine.csv", "mine.jsonl"], gpu="h100_sxm")) == 2
try:
    read_files(["mine.parquet"], gpu="h100_sxm")
except MissingExtraError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout == "reading parquet needs the extra [data]: pip install 'synperf[data]'\n"


def test_expert_layers_are_read_with_their_labels(tmp_path):
    head = "tokens,hidden,inter,experts,topk,ep,dtype,distribution,gated,engine,time_us"
    lines = "512,4096,1536,128,8,4,bf16,power_law_1.2,,vllm,700\n512,4096,1536,128,8,,bf16,,false,vllm,1200\n"
    rows = read_file(put(tmp_path, f"{head}\n{lines}"), "fused_moe", gpu="h100_sxm")
    names = ("ep", "tp", "distribution", "gated", "kernel")
    calls = {tuple(rows.column(name)[i] for name in names) for i in range(len(rows))}
    assert calls == {(4, 1, "power_law_1.2", True, "triton_moe"), (1, 1, "balanced", False, "triton_moe")}


def test_attention_is_read_with_what_its_fields_default_to(tmp_path):
    head = "batch,q_len,kv_len,heads,kv_heads,head_dim,window,dtype,kv_dtype,causal,engine,time_us"
    lines = "8,1,4096,32,8,128,,bf16,fp8,,vllm,30\n1,2048,2048,32,,128,0,bf16,,false,vllm,300\n"
    rows = read_file(put(tmp_path, f"{head}\n{lines}"), "attention", gpu="h100_sxm")
    names = ("batch", "q_len", "kv_heads", "window", "dtype", "kv_dtype", "causal")
    calls = {tuple(rows.column(name)[i] for name in names) for i in range(len(rows))}
    assert calls == {(8, 1, 8, 0, "bf16", "fp8", True), (1, 2048, 32, 0, "bf16", "bf16", False)}


def test_latent_attention_is_absorbed_in_the_rows_of_one_query_unless_they_say_otherwise(tmp_path):
    lines = "1,4096,16,,30\n64,4096,16,,300\n1,2048,16,no,40\n64,2048,16,TRUE,200\n"
    rows = read_file(put(tmp_path, f"q_len,kv_len,heads,absorbed,time_us\n{lines}"), "mla", gpu="h100_sxm")
    found = dict(zip(rows.time_s.round(6).tolist(), rows.column("absorbed").tolist(), strict=True))
    assert found == {3e-5: True, 3e-4: False, 4e-5: False, 2e-4: True}
    assert sorted(len(part) for _, part in rows.groups("absorbed")) == [2, 2]


def test_attention_needs_a_length_of_queries_and_keys(tmp_path):
    path = put(tmp_path, "heads,head_dim,time_us\n32,128,30\n")
    with pytest.raises(FileFormatError, match="no column q_len, kv_len among heads, head_dim, time_us"):
        read_file(path, "attention", gpu="h100_sxm")


def test_many_rows_of_another_family_are_counted_in_one_pass(tmp_path, monkeypatch):
    calls, texts = [], user._texts
    monkeypatch.setattr(user, "_texts", lambda batch, column: calls.append(column) or texts(batch, column))
    path = put(tmp_path, "family,rows,dim,time_us\n" + "softmax,8,8,9\n" * 50 + "layernorm,8,8,9\n")
    assert len(read_file(path, "layernorm", gpu="h100_sxm")) == 1
    assert calls.count("gpu") < 5
