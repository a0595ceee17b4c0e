"""`synperf collect`: rows that calibrate takes, Ctrl-C in the midst of a plan, and one sentence for what is wrong."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from synperf.hardware import DType, gpu

from .runner import assert_refused, invoke

torch = pytest.importorskip("torch", reason="needs the extra [collect]")
pl = pytest.importorskip("polars", reason="needs the extra [collect]")

CPU = ("--device", "cpu")
GEMMS = ("gemm", "m=1,2,4,8,16,64", "n=16,32", "k=16,32")
PAGE = Path(__file__).parents[2] / "docs" / "collect.md"


@pytest.fixture
def small(monkeypatch):
    """Quick timing of one thread."""
    from ..collect.small import quick  # it needs torch

    return quick(monkeypatch)


@pytest.fixture
def my_cpu(tmp_path):
    """The file of a CPU that the documentation shows."""
    path = tmp_path / "my_cpu.toml"
    path.write_text(re.search(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1])
    return path


@pytest.fixture
def out(tmp_path):
    return tmp_path / "rows.parquet"


@pytest.fixture
def with_launches(monkeypatch):
    """Calls of which the launch is the most, so that a busy machine changes little."""
    from ..collect.small import with_launches  # it needs torch

    with_launches(monkeypatch)


@pytest.mark.usefixtures("small", "with_launches")
def test_rows_of_this_cpu_calibrate_it_and_lower_the_held_out_error(tmp_path, my_cpu, out):
    seen = invoke("collect", *GEMMS, "softmax", "rows=1", "dim=64", *CPU, "--out", str(out))
    assert (seen.code, seen.out) == (0, "")
    assert "50 rows of" in seen.err
    again = invoke("collect", "--resume", "--out", str(out), "--json")  # the plan says that it is of a CPU
    assert json.loads(again.out)["rows"] == 50
    options = (str(out), "--family", "gemm", "--gpu", str(my_cpu), "--out", str(tmp_path / "cpu.json"), "--json")
    found = invoke("calibrate", *options)
    assert found.code == 0, found.err
    kernel = json.loads(found.out)["kernels"][0]
    assert (kernel["rows"], kernel["method"]) == (24, "launch floor")
    assert kernel["mape_after"] < 0.5 * kernel["mape_before"]
    scored = invoke("evaluate", "gemm", "--rows", str(out), "--gpu", str(my_cpu), "--json")
    assert (scored.code, json.loads(scored.out)["scores"][0]["rows"]) == (0, 24)


def test_a_cpu_is_no_gpu_with_tensor_cores(my_cpu):
    cpu = gpu(my_cpu)
    assert (cpu.assumptions, dict(cpu.tensor_flop_per_clk_per_sm), cpu.dtypes()) == ((), {}, (DType.FP32,))
    assert cpu.peak_flop_per_s(DType.FP32) == pytest.approx(78.4e9)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_in_the_midst_of_a_plan_keeps_what_is_measured_and_resume_goes_on(tmp_path, out):
    arguments = ("collect", "copy", "rows=1,2,3,4,5,6,7,8", "dim=64", *CPU, "--l2", "warm", "--out", str(out))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "synperf", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    journal = tmp_path / "rows.parquet.journal"
    while process.poll() is None and (
        not journal.exists() or journal.read_bytes().count(b"\n") < 3
    ):  # the plan and two rows
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert (process.returncode, said.splitlines()[-1]) == (130, "synperf: interrupted")
    assert "what was measured is kept; the same command goes on" in said
    early = pl.read_parquet(out)
    assert 2 <= early.height < 8
    torch.set_num_threads(1)
    seen = invoke("collect", "--resume", "--out", str(out))
    assert (seen.code, seen.out) == (0, "")
    rows = pl.read_parquet(out)
    assert sorted(rows["rows"]) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert rows.join(early, on=["rows", "time_s", "timestamp"], how="inner").height == early.height
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.parquet"]


@pytest.mark.usefixtures("small")
def test_the_plan_is_printed_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = invoke("collect", *GEMMS, *CPU, "--dry-run")
    assert (seen.code, seen.err) == (0, "")
    line = next(line for line in seen.out.splitlines() if line.startswith("gemm"))
    assert line.split()[:3] == ["gemm", "24", "48"]
    found = json.loads(invoke("collect", *GEMMS, *CPU, "--dry-run", "--json").out)
    assert (found["rows"], len(found["calls"]), found["l2"]) == (48, 24, ["warm", "cold"])
    assert found["timing_s"] == pytest.approx(sum(call["timing_s"] for call in found["calls"]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "family: none given; right would be a family such as gemm"),
        (("gem",), "no family to collect named 'gem'; nearest: gemm"),
        (("gemm", "q=1"), "gemm: no field named 'q'"),
        (("gemm", "--minutes", "-1"), "minutes must be above 0"),
        (("gemm", "--dtype", "fp99"), "dtype must be one of fp32, fp16, bf16, fp8, int8, got 'fp99'"),
        (("gemm", "--l2", "hot"), "l2 must be warm or cold, got 'hot'"),
        (("gemm", "--minutes", "0.00001"), "family: no call can be timed (gemm: do not fit the minutes: 2160)"),
        (("--resume",), "resume: there is nothing at"),
        (("gemm", "--resume"), "resume: there is nothing at"),
        (("--resume", "--dry-run"), "family: none given; right would be a family such as gemm beside --dry-run"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(tmp_path, out, arguments, said):
    seen = invoke("collect", *arguments, *CPU, "--out", str(out))
    assert_refused(seen)
    assert said in seen.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["tpu", "cuda:", "cuda:x", "cpu:1", ""])
def test_a_device_that_is_none_is_refused(name, out):
    seen = invoke("collect", "gemm", "--device", name, "--out", str(out))
    assert_refused(seen)
    assert f"device must be cpu, cuda or cuda:N, got {name!r}" in seen.err


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_the_cpu_must_be_asked_for(out):
    for arguments in ((), ("--device", "cuda"), ("--device", "cuda:1")):
        seen = invoke("collect", "gemm", *arguments, "--out", str(out))
        assert_refused(seen)
        assert "--device cpu" in seen.err


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no/rows.parquet", "out: no folder"),
        ("rows.csv", "out: rows.csv should end in .parquet"),
        (".", "should end in .parquet"),
    ],
)
def test_an_output_that_cannot_be_is_refused_before_anything_is_timed(tmp_path, name, said):
    seen = invoke("collect", "copy", *CPU, "--out", f"{tmp_path}/{name}")
    assert_refused(seen)
    assert said in seen.err
    assert_refused(invoke("collect", "copy", *CPU))


@pytest.mark.usefixtures("small")
def test_a_full_disk_is_told_before_anything_is_timed(out, full_disk):
    seen = invoke("collect", "copy", *CPU, "--out", str(out))
    assert_refused(seen)
    assert full_disk in seen.err


@pytest.mark.usefixtures("small")
def test_a_damaged_journal_is_one_sentence(tmp_path, out):
    (tmp_path / "rows.parquet.journal").write_text("not a journal\n")
    seen = invoke("collect", "copy", *CPU, "--out", str(out))
    assert_refused(seen)
    assert "rows.parquet.journal line 1: damaged (" in seen.err
    assert not out.exists()


def without(module, *arguments):
    """The finished process of a command where a module cannot be imported."""
    code = f"import sys; sys.modules[{module!r}] = None; from synperf.cli import run; sys.exit(run(sys.argv[1:]))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, "collect", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.parametrize("missing", ["torch", "polars"])
def test_without_torch_or_polars_the_sentence_names_the_extra(missing, out):
    done = without(missing, "copy", *CPU, "--out", str(out))
    said = "synperf: collecting needs the extra [collect]: pip install 'synperf[collect]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("gem",), "no family to collect named 'gem'; nearest: gemm"),
        (("gemm", "q=1"), "gemm: no field named 'q'; known: batch, k, m, n"),
        (("gemm", "m=0"), "gemm: m must be a whole number from 1 to 2147483647, got '0'"),
        (("rope", "dim=3"), "rope: no values that are given go together; right would be an even dim"),
        (("gemm", "--minutes", "nan"), "minutes must be above 0"),
        (("gemm", "--dtype", "fp99"), "dtype must be one of"),
        (("gemm", "--l2", "hot"), "l2 must be warm or cold"),
        (("gemm", "--device", "tpu"), "device must be cpu, cuda or cuda:N"),
        (("gemm", "--out", "rows.csv"), "out: rows.csv should end in .parquet"),
        (("gemm", "--resume"), "resume: there is nothing at"),
    ],
)
def test_arguments_are_checked_before_torch_is_imported(arguments, said, out):
    done = without("torch", "--out", str(out), *arguments) if "--out" not in arguments else without("torch", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"synperf: {said}")


@pytest.mark.usefixtures("small")
def test_a_wrong_field_is_named_where_there_is_another_plan(tmp_path, out):
    assert invoke("collect", "copy", "rows=1", "dim=64", *CPU, "--out", str(out)).code == 0
    seen = invoke("collect", "copy", "row=1", "dim=64", *CPU, "--out", str(out))
    assert_refused(seen)
    assert "copy: no field named 'row'; nearest: rows" in seen.err
    seen = invoke("collect", "copy", "rows=2", "dim=64", *CPU, "--out", str(out))
    assert_refused(seen)
    assert "out: rows.parquet has another plan: asked is families copy" in seen.err
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]
