"""`synperf predict --calls`: tables in, tables out, or one line and nothing."""

import csv
import io
import json
import os
import sys

import pytest

import synperf

from .runner import assert_refused, invoke

CALLS = "layer,family,m,n,k,dtype\nq,gemm,128,256,512,bf16\nup,gemm,64,14336,4096,fp8\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.csv").write_text(CALLS)
    return tmp_path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.usefixtures("folder")
def test_csv_goes_to_standard_output_with_the_results_as_columns():
    seen = invoke("predict", "--calls", "calls.csv", "--gpu", "h100_sxm")
    assert (seen.code, seen.err) == (0, "")
    assert seen.out.splitlines()[0] == (
        "layer,family,m,n,k,dtype,gpu,engine,kernel,time_s,low_s,high_s,floor_s,efficiency,limiter,origin,"
        "extrapolating,outside,assumptions,versions"
    )
    first, second = rows_of(seen.out)
    assert [first[name] for name in ("layer", "m", "engine", "kernel")] == ["q", "128", "torch", "cublas"]
    assert [second[name] for name in ("layer", "gpu", "engine")] == ["up", "h100_sxm", "vllm"]
    expected = synperf.predict(synperf.Gemm(m=64, n=14336, k=4096, dtype="fp8"), "h100_sxm")
    assert float(second["time_s"]) == expected.time_s
    assert second["versions"] == ";".join(f"{name}={version}" for name, version in expected.versions.items())


@pytest.mark.usefixtures("folder")
def test_standard_input_is_csv():
    from_file = invoke("predict", "--calls", "calls.csv", "--gpu", "h100_sxm")
    assert invoke("predict", "--calls", "-", "--gpu", "h100_sxm", stdin=CALLS.encode()) == from_file


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl", "out.ndjson", "out.parquet"])
def test_a_file_is_written_complete_and_alone(folder, name):
    if name.endswith("parquet"):
        pytest.importorskip("polars")
    seen = invoke("predict", "--calls", "calls.csv", "--gpu", "h100_sxm", "--out", name)
    assert (seen.code, seen.out, seen.err) == (0, "", "")
    assert names(folder) == ["calls.csv", name]


def test_a_family_for_all_rows_makes_its_column_needless():
    seen = invoke("predict", "gemm", "--calls", "-", "--gpu", "h100_sxm", stdin=b"m,n,k\n1,2,3\n")
    assert rows_of(seen.out)[0]["family"] == "gemm"


def test_a_column_gpu_beats_the_option_and_set_changes_every_gpu():
    table = b"family,gpu,m,n,k\ngemm,a100_sxm,64,64,64\ngemm,,64,64,64\n"
    seen = invoke("predict", "--calls", "-", "--gpu", "h100_sxm", "--set", "num_sms=2x", stdin=table)
    first, second = rows_of(seen.out)
    assert (first["gpu"], second["gpu"]) == ("a100_sxm", "h100_sxm_what_if")
    assert "num_sms: 216 instead of 108" in first["assumptions"]
    assert "num_sms: 264 instead of 132" in second["assumptions"]


def test_a_header_alone_gives_a_header_alone():
    seen = invoke("predict", "--calls", "-", "--gpu", "h100_sxm", stdin=b"family,m,n,k\n")
    assert (seen.code, seen.err) == (0, "")
    assert seen.out.splitlines() == [
        "family,m,n,k,gpu,engine,kernel,time_s,low_s,high_s,floor_s,efficiency,limiter,origin,extrapolating,outside,"
        "assumptions,versions"
    ]


@pytest.mark.parametrize(
    ("table", "said"),  # `~` stands for the name of the table
    [
        (b"", "~ has no header line; the first line must name the columns, such as family,m,n,k"),
        (b"family,m,n,k\ngemm,1,1,1\ngemm,0,1,1\n", "~ row 2 (line 3): m must be a whole number from 1"),
        (b"family,m,n,k\n\ngemm,1,,1\n", "~ row 1 (line 3): gemm: missing n"),
        (b'note,family,m,n,k\n"a\nb",gemm,1,1,1\nx,gemm,1,1,x\n', "~ row 2 (line 4): k must be a whole number"),
        (b"family,m,n,k\ngem,1,1,1\n", "~ row 1 (line 2): no kernel family named 'gem'; nearest: gemm"),
        (b"family,m,n,k\n,1,1,1\n", "~ row 1 (line 2): family is empty"),
        (b"family,m,n,k,gpu\ngemm,1,1,1,h21\n", "~ row 1 (line 2): no GPU named 'h21'; nearest: h20"),
        (b"family,m,n,k,dtype\ngemm,1,1,1,bf16\ngemm,1,1,1,nvfp4\n", "~ row 2 (line 3): dtype: H100 SXM has no"),
        (b"family,m,n,k,dtpye\ngemm,1,1,1,bf16\n", "~: column 'dtpye' looks like the field dtype"),
        (b"family,M,n,k\ngemm,1,1,1\n", "~: column 'M' looks like the field m"),
        (b"family,m,m,k\ngemm,1,1,1\n", "~ line 1: column 'm' is there twice"),
        (b"family,m,n,k,time_s\ngemm,1,1,1,1\n", "~: column time_s is one of the results"),
        (b"family,m,n,k\ngemm,1,1\n", "~ row 1 (line 2): 3 cells, but the header has 4"),
        (b"family;m;n;k\ngemm;1;1;1\n", "~: family: none given for all rows, and no such column among family;m;n;k"),
        (b'family,m,n,k\n"gemm,1,1,1\n', "~ line 2: not CSV"),
        (b"family,m,n,k\ngemm,1,1,\xff\n", "~ line 2: not UTF-8 text"),
    ],
)
def test_bad_input_names_table_row_line_and_field(table, said):
    seen = invoke("predict", "--calls", "-", "--gpu", "h100_sxm", stdin=table)
    assert_refused(seen)
    assert seen.err.startswith(f"synperf: {said.replace('~', 'standard input')}")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--calls", "none.csv"), "calls: no file 'none.csv'"),
        (("--calls", "."), "calls: '.' is a folder, not a table"),
        (("--calls", "calls.csv", "--out", "none/out.csv"), "out: no folder 'none'; make it first"),
        (("--calls", "calls.csv", "--out", "calls.csv"), "out: 'calls.csv' is the calls file itself; name another"),
        (("--calls", "calls.csv", "--out", "link.csv"), "out: 'link.csv' is the calls file itself; name another"),
        (("--calls", "calls.csv", "--out", "out.xlsx"), "out: 'out.xlsx' must end in .csv, .jsonl, .ndjson, .parquet"),
        (("--calls", "calls.csv", "--out", "folder.csv"), "out: 'folder.csv' is there and is no file"),
        (("--calls", "calls.csv", "--json"), "json: a table is not one document"),
        (("gemm", "m=1", "--calls", "calls.csv"), "'m=1': a table has its own fields"),
    ],
)
def test_a_wrong_file_is_refused_and_nothing_is_left(folder, arguments, said):
    (folder / "folder.csv").mkdir()
    (folder / "link.csv").symlink_to("calls.csv")
    before = names(folder)
    seen = invoke("predict", *arguments, "--gpu", "h100_sxm")
    assert_refused(seen)
    assert seen.err.startswith(f"synperf: {said}")
    assert names(folder) == before


@pytest.mark.parametrize("out", ["out.csv", "out.jsonl", "out.parquet"])
def test_an_error_in_the_last_row_leaves_the_old_file_and_no_part(folder, out):
    if out.endswith("parquet"):
        pytest.importorskip("polars")
    (folder / "calls.csv").write_text(CALLS + "last,gemm,1,1,1.5,bf16\n")
    (folder / out).write_text("old")
    assert_refused(invoke("predict", "--calls", "calls.csv", "--gpu", "h100_sxm", "--out", out))
    assert (folder / out).read_text() == "old"
    assert names(folder) == ["calls.csv", out]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_named(folder):
    (folder / "closed").mkdir(mode=0o500)
    seen = invoke("predict", "--calls", "calls.csv", "--gpu", "h100_sxm", "--out", "closed/out.csv")
    assert_refused(seen)
    assert "Permission denied" in seen.err


@pytest.mark.usefixtures("folder")
def test_parquet_without_polars_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.delitem(sys.modules, "synperf.tables.frames", raising=False)
    seen = invoke("predict", "--calls", "calls.csv", "--gpu", "h100_sxm", "--out", "out.parquet")
    assert_refused(seen)
    assert seen.err == "synperf: out: parquet needs the extra [tables]: pip install 'synperf[tables]'\n"


def test_json_lines_carry_the_keys_and_types_of_predict_json(folder):
    (folder / "calls.jsonl").write_text('{"family": "gemm", "m": 128, "n": 256, "k": 512, "id": 1.50}\n')
    invoke("predict", "--calls", "calls.jsonl", "--gpu", "h100_sxm", "--out", "out.jsonl")
    line = (folder / "out.jsonl").read_text()
    one = json.loads(invoke("predict", "gemm", "m=128", "n=256", "k=512", "--gpu", "h100_sxm", "--json").out)
    assert '"id":1.50' in line
    del one["params"]
    assert json.loads(line) == {"m": 128, "n": 256, "k": 512, "id": 1.5} | one


@pytest.mark.usefixtures("folder")
def test_a_folder_that_takes_no_file_is_told_before_any_row_is_read(full_disk, monkeypatch):
    monkeypatch.setattr(synperf.api, "predict_file", lambda *_, **__: pytest.fail("predicted"))
    seen = invoke("predict", "--calls", "calls.csv", "--gpu", "h100_sxm", "--out", "out.csv")
    assert_refused(seen)
    assert seen.err == f"synperf: out: nothing can be written into the folder '.': {full_disk}\n"
