"""Whatever comes in: an answer, or exit code 2 with one line on standard error, and no file left behind."""

import json
import os
import tempfile
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from .runner import Seen, assert_refused, invoke

CALM = settings(max_examples=150)


@contextmanager
def empty_folder():
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def assert_answered_or_refused(seen: Seen, folder: Path, given_files: set[str], made: set[str]):
    left = {path.name for path in folder.iterdir()} - given_files
    if seen.code == 0:
        assert seen.err == ""
        assert left <= made
    else:
        assert_refused(seen)
        assert left == set()


WORDS = st.sampled_from(
    ["gemm", "m=64", "n=64", "k=64", "m=0", "m=-1", "m=1.5", "m=1e3", "m=", "=", "m=m=m", "mm=1", "batch=2", "m=1,2,3",
     "k=2147483648", "dtype=fp8", "dtype=fp9", "engine=vllm", "tile_m=128", "split_k=99999", "h100_sxm", "H100", "h21",
     "--gpu", "a100_sxm", "--set", "num_sms=2x", "dram_bytes=1e99", "num_sms=0x", "--json", "--origin", "analytical",
     "learned", "--svg", "out.svg", "--calls", "calls.csv", "-", "--out", "out.csv", "out.parquet", "--help", "--",
     "-h", "--dtype", "--architecture", "hopper", "--min-dram", "80GB", "", " ", "none.toml", ".", "/"]
)  # fmt: skip
ARGUMENTS = st.lists(st.one_of(WORDS, WORDS, WORDS, st.text(max_size=6)), max_size=10)


@CALM
@given(st.sampled_from(["predict", "explain", "gpu", "gpus", "kernels"]), ARGUMENTS)
def test_arguments(command, arguments):
    with empty_folder() as folder:
        (folder / "calls.csv").write_text("family,m,n,k\ngemm,1,2,3\n")
        seen = invoke(command, *arguments, stdin=b"family,m,n,k\ngemm,1,2,3\n")
        assert_answered_or_refused(seen, folder, {"calls.csv"}, {"out.csv", "out.parquet", "out.svg"})


@CALM
@given(ARGUMENTS.filter(lambda words: not words or words[0] not in ("evaluate",)))
def test_arguments_without_a_command(arguments):
    with empty_folder() as folder:
        assert_answered_or_refused(invoke(*arguments), folder, set(), set())


CELLS = st.sampled_from(
    ["family", "m", "n", "k", "dtype", "gpu", "gemm", "1", "64", "0", "-1", "1.5", "1e3", "bf16", "fp8", "h20", "h21",
     "", " ", '"', '""', "\n", "\r", "\r\n", ",", ";", "\x00", "\ufeff", "time_s", "note", "é", "2147483648", "nan",
     "inf", "9" * 5000]
)  # fmt: skip
HEADS = st.sampled_from([b"", b"family,m,n,k\n", b"family,m,n,k,dtype,gpu,note\n", b"m,n,k\r\n", b"\xef\xbb\xbf"])
ROWS = st.lists(st.lists(CELLS, max_size=7).map(",".join), max_size=5).map(lambda lines: "\n".join(lines).encode())
CSV = st.tuples(HEADS, st.one_of(ROWS, st.binary(max_size=60))).map(b"".join)


@CALM
@example(b"\r,family", "out.csv")
@given(CSV, st.sampled_from(["out.csv", "out.jsonl", None]))
def test_csv(text, out):
    with empty_folder() as folder:
        (folder / "calls.csv").write_bytes(text)
        options = ("--out", out) if out else ()
        seen = invoke("predict", "--calls", "calls.csv", "--gpu", "h100_sxm", *options)
        assert_answered_or_refused(seen, folder, {"calls.csv"}, {out} if out else set())


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.sampled_from([1, 64, "gemm", "bf16", "1e3", 1.5, "h20"])),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=2), inner, max_size=2)),
    max_leaves=4,
)
KEYS = st.sampled_from(
    ["family", "m", "n", "k", "dtype", "gpu", "engine", "kernel", "batch", "tile_m", "x", "dtyp", "origin"]
)  # fmt: skip
GOOD = {"family": "gemm", "m": 64, "n": 64, "k": 64}


@CALM
@given(
    st.lists(st.dictionaries(KEYS, VALUES, max_size=3), max_size=4),
    st.binary(max_size=20),
    st.sampled_from(["csv", "jsonl", "parquet"]),
)
def test_json_lines(changes, tail, ending):
    if ending == "parquet":
        pytest.importorskip("polars")
    with empty_folder() as folder:
        lines = b"".join(json.dumps(GOOD | change).encode() + b"\n" for change in changes)
        (folder / "calls.jsonl").write_bytes(lines + tail)
        seen = invoke("predict", "--calls", "calls.jsonl", "--gpu", "h100_sxm", "--out", f"out.{ending}")
        assert_answered_or_refused(seen, folder, {"calls.jsonl"}, {f"out.{ending}"})


TOML = st.lists(
    st.sampled_from(
        ['name = "x"', "num_sms = 10", "num_sms = 0", "num_sms = 1e400", "dram_bytes_per_s = 1e12", "[[sources]]",
         "dram_bytes_per_s = nan", "[tensor_flop_per_s]", "bf16 = 1e14", "bf16 = -1", 'bf16 = "x"', "aliases = [1]",
         "x = ", "=", "\x00", '"""', 'compute_capability = "9.0"', 'compute_capability = "x"', "clock_hz = inf",
         'architecture = "hopper"', "l2_bytes = true"]
    ),
    max_size=8,
).map(lambda lines: "\n".join(lines).encode())  # fmt: skip


@CALM
@given(st.one_of(TOML, st.binary(max_size=60)))
def test_gpu_files(text):
    with empty_folder() as folder:
        (folder / "mine.toml").write_bytes(text)
        predict = ("predict", "gemm", "m=64", "n=64", "k=64", "--gpu", "mine.toml", "--json")
        for arguments in (("gpu", "mine.toml"), predict):
            assert_answered_or_refused(invoke(*arguments), folder, {"mine.toml"}, set())


COLUMNS = st.dictionaries(
    st.sampled_from(["family", "m", "n", "k", "dtype", "gpu", "batch", "engine", "note", "time_s", "tile_k", "dtyp"]),
    st.sampled_from(
        [["gemm", "gemm"], [64, 64], [64, None], [64.0, 1e3], [1.5, None], ["64", " "], [True, False], [None, None],
         [[64], [1, 2]], [{"a": 1}, None], [b"64", None], [date(2026, 1, 1), None], [float("nan"), 1.0],
         [-1, 2**63 - 1]]
    ),
    max_size=6,
)  # fmt: skip


@CALM
@given(COLUMNS, st.sampled_from(["csv", "jsonl", "parquet"]))
def test_parquet_of_any_types(columns, ending):
    pl = pytest.importorskip("polars")
    with empty_folder() as folder:
        pl.DataFrame({"family": "gemm", "m": [1, 2], "n": 64, "k": 64} | columns).write_parquet("calls.parquet")
        out = f"out.{ending}"
        seen = invoke("predict", "--calls", "calls.parquet", "--gpu", "h100_sxm", "--out", out)
        assert_answered_or_refused(seen, folder, {"calls.parquet"}, {out})


@settings(max_examples=60)
@given(st.data())
def test_broken_parquet(data):
    """Cut short, or junk between the marks. Bytes changed inside may make polars itself abort."""
    pl = pytest.importorskip("polars")
    with empty_folder() as folder:
        pl.DataFrame([GOOD] * 3).write_parquet("calls.parquet")
        good = (folder / "calls.parquet").read_bytes()
        cut = good[: data.draw(st.integers(0, len(good) - 1))]
        junk = b"PAR1" + data.draw(st.binary(max_size=60)) + b"PAR1"
        (folder / "calls.parquet").write_bytes(data.draw(st.sampled_from([cut, junk])))
        seen = invoke("predict", "--calls", "calls.parquet", "--gpu", "h100_sxm", "--out", "out.csv")
        assert_answered_or_refused(seen, folder, {"calls.parquet"}, set())
