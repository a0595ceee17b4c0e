"""A file or a name that an option gives, and that is wrong, is refused under the name of the option."""

import shutil

import pytest

from synperf.estimators import weights

from .runner import assert_refused, invoke

CALL = ("gemm", "m=64", "n=64", "k=64", "--gpu", "h100_sxm")
ROWS = ("gemm", "--rows", "rows.csv", "--gpu", "h100_sxm")
NO_FILES = ("none", "folder", "empty", "junk", "none.toml", "none.safetensors")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with a table of rows, weights without their card, and files that are nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").touch()
    (tmp_path / "junk").write_bytes(b"\x00\xff junk")
    (tmp_path / "junk.toml").write_bytes(b"\x00\xff junk")
    (tmp_path / "rows.csv").write_text("m,n,k,time_us\n64,64,64,10\n")
    shutil.copy(weights.path_of("gemm"), tmp_path / "alone.safetensors")


def refused_as(option, *arguments):
    seen = invoke(*arguments)
    assert_refused(seen)
    assert seen.err.startswith(f"synperf: {option}: "), seen.err


@pytest.mark.parametrize("command", ["predict", "explain"])
@pytest.mark.parametrize("file", NO_FILES)
def test_of_one_call(command, file):
    for option in ("weights", "calibration", "tile-profile"):
        refused_as(option, command, *CALL, f"--{option}", file)
    refused_as("gpu", command, *CALL[:4], "--gpu", file)


@pytest.mark.parametrize(
    "command", [("predict", *CALL[:4]), ("explain", *CALL[:4]), ("predict", "--calls", "rows.csv")]
)
def test_of_calls_and_tables(command):
    here = (*command, "--gpu", "h100_sxm")
    for option, value in (("weights", "alone.safetensors"), ("tile-profile", "none"), ("calibration", "empty")):
        refused_as(option, *here, f"--{option}", value)
    for change in ("num_sms", "num_sm=2x", "num_sms=0", "=1"):
        refused_as("--set", *here, "--set", change)
    refused_as("--set", *here, "--set", "num_sms=2", "--set", "num_sms=3")
    refused_as("gpu", *command, "--gpu", "junk.toml")


def test_of_a_change_of_the_gpus_of_a_table():
    seen = invoke("predict", "--calls", "-", "--set", "num_sm=2", stdin=b"family,gpu,m,n,k\ngemm,a100_sxm,1,1,1\n")
    assert_refused(seen)
    assert seen.err.startswith("synperf: standard input row 1 (line 2): --set: unknown field 'num_sm'")


@pytest.mark.parametrize("file", NO_FILES)
def test_of_rows(file):
    refused_as("rows", "calibrate", file, "--gpu", "h100_sxm")
    refused_as("gpu", "calibrate", "rows.csv", "--gpu", file)
    refused_as("family", "calibrate", "rows.csv", "--gpu", "h100_sxm", "--family", file)
    refused_as("rows", "evaluate", "gemm", "--rows", file, "--gpu", "h100_sxm")
    refused_as("gpu", "evaluate", "gemm", "--rows", "rows.csv", "--gpu", file)
    refused_as("data", "evaluate", "gemm", "--split", "paper-fp8", "--data", file)


@pytest.mark.parametrize("option", ["split", "recipe", "dtype", "origin", "variant"])
def test_of_what_is_evaluated(option):
    refused_as(option, "evaluate", *ROWS, f"--{option}", "none")


def test_of_gpus_that_are_left_out():
    refused_as("hold_out", "evaluate", *ROWS, "--split", "unseen-gpu", "--hold-out", "h21")


@pytest.mark.parametrize("file", NO_FILES)
def test_of_training(file):
    pytest.importorskip("torch", reason="training needs the extra [train]")
    refused_as("rows", "train", "gemm", "--only-rows", "--rows", file, "--gpu", "h100_sxm", "--out", "w.safetensors")
    refused_as("gpu", "train", *ROWS[:3], "--only-rows", "--gpu", file, "--out", "w.safetensors")


LONG = "x" * 200_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"family,m,n,k,note\ngemm,1,1,1,\ngemm,1,1,1,{LONG}\n", "line 3: column note: a cell is longer than"),
        (
            f'family,m,n,k,note\ngemm,1,1,1,"a\nb"\ngemm,1,1,"{LONG}\n,1',
            "line 4: column k: a cell is longer than 131,072 characters; is a",
        ),
        (f"family,m,{LONG},k\n", "line 1: column 3: a cell is longer than 131,072 characters"),
        (f"m,n,k,time_us\n1,1,1,{LONG}\n", "line 2: column time_us: a cell is longer than"),
    ],
)
def test_of_a_cell_that_is_too_long(text, said, tmp_path):
    (tmp_path / "long.csv").write_text(text)
    for command in (
        ("predict", "gemm", "--calls", "long.csv", "--gpu", "h100_sxm"),
        ("calibrate", "long.csv", "--gpu", "h100_sxm"),
        ("predict", *CALL, "--tile-profile", "long.csv"),
    ):
        seen = invoke(*command)
        assert_refused(seen)
        assert f"long.csv {said}" in seen.err


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        (("pipeline", "--stages", "2.5"), "'2.5' is not a whole number; right would be one such as 4"),
        (("evaluate", "gemm", "--seed", "x"), "'x' is not a whole number; right would be one such as 4"),
    ],
)
def test_a_number_of_the_wrong_kind_is_told_what_would_be_right(arguments, right):
    seen = invoke(*arguments)
    assert_refused(seen)
    assert right in seen.err
