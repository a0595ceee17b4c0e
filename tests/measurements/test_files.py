"""A file is told by what is in it; what cannot be read is refused in a sentence."""

import pytest

from synperf.errors import FieldError, FileFormatError, UnknownNameError
from synperf.measurements import read_file, read_files

from .shared import shared

TABLE = "m,n,k,time_us\n4096,4096,4096,200\n"


def put(tmp_path, content, name):
    (tmp_path / name).write_bytes(content)
    return tmp_path / name


def refused(path):
    with pytest.raises(FileFormatError) as error:
        read_file(path, gpu="h100_sxm")
    return str(error.value)


def test_files_are_joined_in_their_order(tmp_path):
    paths = [put(tmp_path, TABLE.encode(), name) for name in ("b.csv", "a.csv")]
    rows = read_files(paths, gpu="h100_sxm")
    assert rows.source.tolist() == ["b.csv", "a.csv"]


def test_no_files_are_refused():
    with pytest.raises(FieldError, match="none to join"):
        read_files([])


def test_a_family_without_measured_rows_is_unknown(tmp_path):
    with pytest.raises(UnknownNameError, match="no measured family named 'grouped_gemm'; nearest: rope, gemm"):
        read_file(put(tmp_path, TABLE.encode(), "a.csv"), "grouped_gemm")


def test_a_file_that_is_not_there_or_a_folder_is_refused(tmp_path):
    assert refused(tmp_path / "none.csv") == f"{tmp_path}/none.csv: No such file or directory"
    assert refused(tmp_path) == f"{tmp_path}: Is a directory"


@pytest.mark.parametrize("content", [b"", b" \n\n"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_an_empty_file_is_refused(tmp_path, content, name):
    right = "right would be a table with a header, such as m,n,k,dtype,time_us"
    assert refused(put(tmp_path, content, name)) == f"{name} is empty; {right}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xd8\xff\xe0 a picture", "a.csv line 1: not UTF-8 text"),
        (TABLE.encode("utf-16"), "a.csv line 1: not UTF-8 text"),
        (b"m,n,k,time_us\n1,2,3\n", "a.csv row 1 (line 2): 3 cells, but the header has 4"),
        (b"m,n,m,time_us\n1,2,3,4\n", "a.csv line 1: column 'm' is there twice"),
        (b'{"m": 1, \n', "a.csv line 1: not a JSON object: "),
        (b"[1, 2]\n", "a.csv line 1: not a JSON object: "),
    ],
)
def test_damaged_text_is_refused(tmp_path, content, message):
    assert refused(put(tmp_path, content, "a.csv")).startswith(message)


@pytest.mark.parametrize("content", [b"PAR1", b"m,n,k,time_us\n", b"PAR1" + b"x" * 100 + b"PAR1"])
def test_what_is_no_parquet_file_is_refused(tmp_path, content):
    pytest.importorskip("polars", reason="needs the extra [data]")
    assert refused(put(tmp_path, content, "a.parquet")).startswith("a.parquet is not a parquet file: ")


@pytest.mark.parametrize("share", [0.001, 0.5, 0.99])
def test_a_truncated_parquet_file_is_refused(tmp_path, share):
    pytest.importorskip("polars", reason="needs the extra [data]")
    whole = shared("pipeweave_gemm_fp8_test.parquet").read_bytes()
    path = put(tmp_path, whole[: int(len(whole) * share)], "a.parquet")
    assert refused(path).startswith("a.parquet is not a parquet file: ")


def test_bytes_changed_inside_a_parquet_file_are_no_traceback(tmp_path):
    pytest.importorskip("polars", reason="needs the extra [data]")
    whole = bytearray(shared("pipeweave_gemm_fp8_test.parquet").read_bytes())
    whole[2000:6000] = bytes(4000)
    assert refused(put(tmp_path, bytes(whole), "a.parquet")).startswith("a.parquet is not a parquet file: ")


def test_a_published_file_is_known_whatever_its_name(tmp_path):
    pytest.importorskip("polars", reason="needs the extra [data]")
    path = put(tmp_path, shared("pipeweave_gemm_fp8_test.parquet").read_bytes(), "a.csv")
    rows = read_file(path)
    assert (set(rows.kernel), rows.is_test.all(), rows.source[0]) == ({"cutlass_scaled_mm"}, True, "a.csv")


@pytest.mark.parametrize("name", ["vidur_attention", "neusight_train_conv", "pipeweave_collective"])
def test_published_files_without_gemms_are_refused(name):
    pytest.importorskip("polars", reason="needs the extra [data]")
    assert refused(shared(f"{name}.parquet")).startswith(f"{name}.parquet: ")
