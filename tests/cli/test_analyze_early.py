"""A file that another process reads while modules are imported has the same answer as one that is read afterwards."""

import gzip
import json
import os
import subprocess
import sys

import pytest

from synperf.traces import kineto_columns

from .runner import invoke

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked on Linux alone"),
    pytest.mark.skipif(not kineto_columns.is_compiled, reason="the compiled part was not built"),
]

# Runs the command, and says at the end how many messages came.
SCRIPT = """
import atexit, os, sys
os.sched_getaffinity = lambda _: {0, 1}  # as if there were two cores
from synperf import forked
came, messages = [], forked.Forked.messages
forked.Forked.messages = lambda one: (came.append(message) or message for message in messages(one))
from synperf.__main__ import main
atexit.register(lambda: print(len(came), file=sys.stderr))
main()
"""


def event(number):
    kind = ("cpu_op", "cuda_runtime", "kernel", "user_annotation")[number % 4]
    return {
        "ph": "X", "cat": kind, "name": f"{kind} {number % 37}", "pid": 0 if kind == "kernel" else 1, "tid": 7,
        "ts": f"{number // 3}.{number % 1000:03}", "dur": 2.5, "args": {
            "External id": number, "correlation": number, "device": 0, "stream": 7, "registers per thread": 32,
            "grid": [number % 9 + 1, 1, 1], "block": [64, 1, 1], "Input Dims": [[number % 11, 4]],
        },
    }  # fmt: skip


def text(
    *odd, tail='], "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}], "distributedInfo": {"rank": 3}}'
):
    events = [*map(json.dumps, map(event, range(20_000))), *odd, *map(json.dumps, map(event, range(20_000, 20_100)))]
    return ('{"traceEvents": [' + ",\n".join(events) + tail).encode()


FILES = {
    "strict": (text(), 3),
    "packed": (gzip.compress(text(), 0), 3),
    "begins and ends": (text('{"ph": "B", "cat": "cpu_op", "name": "x", "ts": 1, "pid": 1, "tid": 7}'), 3),
    "damage late": (text('{"ph": "X", "cat": "kernel", "name": NaN, "ts": 1, "dur": 1}'), 2),
    "an escape": (text('{"ph": "X", "cat": "cpu_op", "name": "\\\\u00e9", "ts": 1, "dur": 2}'), 2),
    "no end": (text(tail=""), 2),
    "no events": (b'{"traceEvents": 1' + b" " * 2**18 + b"}", 0),
    "another format": (b"hello, world\n" * 2**15, 0),
}


@pytest.mark.parametrize(("content", "least"), FILES.values(), ids=FILES)
def test_the_answer_is_that_of_a_file_that_is_read_afterwards(tmp_path, content, least):
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SCRIPT, "analyze", path]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    *said, came = done.stderr.splitlines()
    wanted = invoke("analyze", str(path))
    assert (done.returncode, done.stdout, said) == (wanted.code, wanted.out, wanted.err.splitlines())
    assert int(came) >= least


def test_a_file_that_is_not_there_is_told(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SCRIPT, "analyze", tmp_path / "nothing.json"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nothing.json" in done.stderr.splitlines()[0]


@pytest.mark.parametrize("name", ["strict", "damage late", "another format"])
def test_where_nobody_waits_for_children_the_answer_is_the_same(tmp_path, name):
    path = tmp_path / "trace.json"
    path.write_bytes(FILES[name][0])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ignoring = "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
    command = [sys.executable, "-c", ignoring + SCRIPT, "analyze", path]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    wanted = invoke("analyze", str(path))
    assert (done.returncode, done.stdout, done.stderr.splitlines()[:-1]) == (
        wanted.code, wanted.out, wanted.err.splitlines(),
    )  # fmt: skip
