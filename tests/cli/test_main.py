"""The frame round every command: discovery, help, exit codes, one line per error."""

import subprocess
import sys

import pytest

import synperf
from synperf.cli import app
from synperf.errors import PerfError

from .runner import assert_refused, invoke


def test_help_lists_every_file_of_the_folder_with_its_first_sentence():
    seen = invoke("--help")
    assert (seen.code, seen.err) == (0, "")
    for name in ("evaluate", "explain", "gpu", "gpus", "kernels", "predict"):
        assert f"  {name.ljust(max(map(len, app.names())))}  {app.summary(name)}\n" in seen.out


def test_no_arguments_are_a_question_for_help():
    assert invoke() == invoke("--help")


def test_the_version_is_that_of_the_package():
    assert invoke("--version").out == f"synperf {synperf.__version__}\n"


@pytest.mark.parametrize("name", app.names())
def test_every_command_has_help_with_its_docstring(name):
    seen = invoke(name, "--help")
    assert (seen.code, seen.err) == (0, "")
    assert seen.out.startswith(f"Usage: synperf {name} ")
    assert app.summary(name)[:40] in seen.out


def test_an_unknown_command_is_refused_with_the_nearest_one():
    seen = invoke("predcit", "gemm")
    assert_refused(seen)
    assert seen.err.startswith("synperf: no command named 'predcit'; nearest: predict")


@pytest.mark.parametrize("arguments", [("x" * 5000,), ("grid", "--ctas-per-sm", "1" * 5000)])
def test_a_value_without_end_is_cut_in_the_message(arguments):
    seen = invoke(*arguments)
    assert_refused(seen)
    assert len(seen.err) < 2000
    assert "..." in seen.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("gpus", "--bogus"), "--bogus"),
        (("gpu",), "missing argument"),
        (("predict", "--gpu"), "'--gpu' requires an argument"),
        (("kernels", "extra"), "extra"),
        (("gpu", "h100_sxm", "--json=yes"), "--json"),
        (("-x",), "no command named '-x'"),
        (("analyze", ""), "argument 1: it is empty"),
        (("analyze", "trace.json", "--html", ""), "html: it is empty"),
    ],
)
def test_a_wrong_option_or_argument_is_one_line(arguments, said):
    seen = invoke(*arguments)
    assert_refused(seen)
    assert said in seen.err


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (PerfError("the first\nand the second line"), 2, "synperf: the first and the second line\n"),
        (PermissionError(13, "Permission denied", "/x"), 2, "synperf: /x: Permission denied\n"),
        (KeyboardInterrupt(), 130, "synperf: interrupted\n"),
        (BrokenPipeError(), 141, ""),
        (
            MemoryError(),
            2,
            "synperf: there is too little memory for this; right would be more of it, or less at once\n",
        ),
        (ZeroDivisionError("by zero"), 70, "synperf: a bug, please report it with the command: ZeroDivisionError"),
    ],
)
def test_every_error_has_its_exit_code_and_one_line(monkeypatch, error, code, said):
    def fail(_):
        raise error

    monkeypatch.setattr(app, "_dispatch", fail)
    monkeypatch.setattr(app, "_close_stdout", lambda: None)
    seen = invoke("gpus")
    assert (seen.code, seen.out) == (code, "")
    assert seen.err.startswith(said)
    assert seen.err.count("\n") == (1 if said else 0)


def test_only_the_called_command_is_imported_and_no_optional_package():
    script = (
        "import sys, typer; before = set(sys.modules); from synperf.cli import run; "
        "run(['predict', 'gemm', 'm=1', 'n=1', 'k=1', '--gpu', 'h100_sxm', '--json']); "
        "new = set(sys.modules) - before; "
        "print(sorted(new & {'rich', 'polars', 'synperf.tables'}), file=sys.stderr); "
        "print(sorted(m for m in new if m.startswith('synperf.cli.commands.')), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n['synperf.cli.commands.predict']\n"


def test_the_package_runs_as_a_module_and_a_closed_pipe_is_quiet():
    command = f"'{sys.executable}' -m synperf gpus --json | head -c 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[", "")
