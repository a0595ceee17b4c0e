"""Signals and failing disks: nothing is left, one line is said, the exit code tells which it was."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from synperf.tables.cleanup import remove, uninterrupted

posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")
CALLS = "family,m,n,k\n" + "".join(f"gemm,{i},64,64\n" for i in range(1, 51))

# Runs the command with a signal sent to itself at the place that is named, `again` where it comes twice.
SCRIPT = """
import os, shutil, signal, sys
import polars as pl
from synperf.cli import main
from synperf.tables import files
number, place, *sys.argv[1:] = int(sys.argv[1]), *sys.argv[2:]
files.BATCH_ROWS = 20
if signal.getsignal(number) is signal.SIG_IGN:  # the tests run under nohup
    signal.signal(number, signal.SIG_DFL)
def stop(*_, **__):
    os.kill(os.getpid(), number)
    if place.endswith("polars"):
        raise KeyboardInterrupt  # as polars does by itself
def twice(path, *_, **__):
    os.kill(os.getpid(), number)
    os.kill(os.getpid(), number)
    kept(path, ignore_errors=True)
kept = shutil.rmtree
if place.startswith("part"):
    pl.DataFrame.write_parquet = stop
elif place.startswith("join"):
    pl.LazyFrame.sink_parquet = stop
else:
    shutil.rmtree = twice
main()
"""

# Runs the command with an interrupt sent to itself where the module that is named is looked for.
IMPORTING = """
import os, signal, sys
from synperf.__main__ import main
class Finder:
    def find_spec(self, name, *_):
        if name == place:
            os.kill(os.getpid(), signal.SIGINT)
place = sys.argv.pop(1)
sys.meta_path.insert(0, Finder())
main()
"""

SIGNALS = (("SIGINT", "interrupted"), ("SIGTERM", "terminated"), ("SIGHUP", "hung up"))
CASES = [(*signal_of, place) for signal_of in SIGNALS for place in ("part", "join", "cleanup")]
CASES += [
    (*SIGNALS[0], place) for place in ("part polars", "join polars")
]  # Ctrl-C is the one that polars raises itself


def run(folder, *arguments, script=None, **options):
    (folder / "calls.csv").write_text(CALLS)
    command = [sys.executable, *(["-c", script] if script else ["-m", "synperf"]), *map(str, arguments)]
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False, **options)


@posix
@pytest.mark.parametrize(("name", "said", "place"), CASES)
def test_a_signal_leaves_no_file_and_tells_its_number(tmp_path, place, name, said):
    pytest.importorskip("polars")
    number = getattr(signal, name)
    arguments = ("predict", "--calls", "calls.csv", "--gpu", "h100_sxm", "--out", "out.parquet")
    done = run(tmp_path, int(number), place, *arguments, script=SCRIPT)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", f"synperf: {said}\n")
    assert {path.name for path in tmp_path.iterdir()} <= {"calls.csv", "out.parquet"}


@posix
@pytest.mark.parametrize("place", ["synperf.cli", "synperf.cli.app", "typer", "synperf.cli.commands.gpus"])
def test_ctrl_c_during_the_imports_is_one_line(tmp_path, place):
    done = run(tmp_path, place, "gpus", script=IMPORTING)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "synperf: interrupted\n")


@posix
def test_a_signal_during_the_removal_of_the_temporary_folder_leaves_none(tmp_path):
    pytest.importorskip("polars")
    arguments = ("predict", "--calls", "calls.csv", "--gpu", "h100_sxm")
    done = run(tmp_path, int(signal.SIGTERM), "cleanup", *arguments, script=SCRIPT)
    assert (done.returncode, done.stderr) == (143, "synperf: terminated\n")
    assert [path.name for path in tmp_path.iterdir()] == ["calls.csv"]


def test_cleaning_up_comes_to_its_end_and_the_interrupt_after_it(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "0").touch()
    interrupts = [KeyboardInterrupt(), KeyboardInterrupt()]

    def action():
        if interrupts:
            raise interrupts.pop()
        remove([tmp_path / "folder", tmp_path / "none"])

    with pytest.raises(KeyboardInterrupt):
        uninterrupted(action)
    assert list(tmp_path.iterdir()) == []


@posix
@pytest.mark.parametrize("out", ["out.parquet", "out.csv", "out.jsonl"])
def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path, out):
    if out.endswith("parquet"):
        pytest.importorskip("polars")
    resource = pytest.importorskip("resource")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))  # as a disk with no more room

    done = run(
        tmp_path, "predict", "--calls", "calls.csv", "--gpu", "h100_sxm", "--out", out, preexec_fn=limit
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("synperf: out")
    assert "File too large" in done.stderr or "could not be written" in done.stderr
    assert ".synperf" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["calls.csv"]


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_drawing_does_not_stay_when_its_text_cannot_be_shown(tmp_path):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "synperf", "explain", "gemm", "m=64", "n=64", "k=64", "--gpu", "h100_sxm",
             "--svg", str(tmp_path / "waves.svg")],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("synperf: standard output: No space left")
    assert list(tmp_path.iterdir()) == []
