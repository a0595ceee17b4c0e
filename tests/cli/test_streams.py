"""Standard output holds the answer and nothing else, whatever a file of one's own writes or raises."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from ..kernels.own_files import PLAIN, write

WRITING = """\
import atexit, os, sys
atexit.register(print, "at the end")
os.write(1, b"raw\\n")
sys.__stdout__.write("the first stream\\n")
os.system("echo of a child")
"""
WARNING = """\
import numpy as np
np.float64(1) / np.float64(0)
"""
posix = pytest.mark.skipif(os.name != "posix", reason="descriptors and signals of POSIX")


def command(folder, text):
    write(folder, text)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-m", "synperf", "predict", "mine.py", "rows=8", "dim=8", "--gpu", "h100_sxm", "--json"]
    return {"args": words, "cwd": folder, "env": environment, "text": True}


def run(folder, text):
    return subprocess.run(**command(folder, text), capture_output=True, check=False)


@posix
def test_what_a_file_writes_by_any_way_is_on_standard_error(tmp_path):
    asked = WARNING + 'import os; os.write(1, b"asked\\n")\n    return {'
    done = run(tmp_path, WRITING + PLAIN.replace("return {", asked.replace("\n", "\n    ", 2)))
    assert (done.returncode, json.loads(done.stdout)["family"]) == (0, "mine")
    said = ["raw", "the first stream", "of a child", "asked", "at the end"]
    assert sorted(set(done.stderr.splitlines())) == sorted(said)


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "GeneratorExit", "SystemExit"])
def test_an_error_of_any_kind_that_a_file_raises_is_its_own(tmp_path, error):
    inside = PLAIN.replace("    return {", f"    raise {error}('me')\n    return {{")
    for text, line in ((inside, 7), (f"raise {error}('me')\n", 1)):
        done = run(tmp_path, text)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"synperf: mine.py:{line}: {error}: me\n")


@posix
def test_ctrl_c_while_a_file_runs_is_ctrl_c(tmp_path):
    waiting = "import time, pathlib; pathlib.Path('begun').touch(); time.sleep(60)\n"
    process = subprocess.Popen(**command(tmp_path, waiting + PLAIN), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while process.poll() is None and not (tmp_path / "begun").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == ("", "synperf: interrupted\n")
    assert process.returncode == 130


@posix
@pytest.mark.parametrize("closed", ["2>&-", "<&- 2>&-", "<&-"])
def test_streams_that_the_caller_closed_are_not_missed(tmp_path, closed):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "a", "ts": 1, "dur": 2}]}))
    for file, code, says in ((path.name, 0, "trace.json: kineto"), ("nowhere.json", 2, "")):
        done = subprocess.run(
            ["/bin/sh", "-c", f'"{sys.executable}" -m synperf analyze {file} {closed}'],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, text=True, capture_output=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == code
        assert done.stdout.startswith(says)
        assert bool(done.stdout) == bool(says)


@pytest.mark.parametrize("options", [["-X", "dev"], ["-W", "error"], ["-O"]])
def test_the_interpreter_has_nothing_to_say(tmp_path, options):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, *options, "-m", "synperf", "roofline", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
