"""What another process makes of a file comes message by message, or the one who asks is told that it does not."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked on Linux alone")

SCRIPT = """
import os, sys
from pathlib import Path
from synperf.forked import CutError, begun, taken
os.sched_getaffinity = lambda _: {{0, 1}}  # as if there were two cores

def make(path, send):
    {make}

path = Path(sys.argv[1])
with begun(path, make, {least}):
    forked = {asked}
    found = []
    try:
        if forked is not None:
            for message in forked.messages():
                found.append(message)
    except CutError:
        found.append("cut")
print(forked is not None, found, taken(path))
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print("no process is left")
"""


def run(tmp_path, make, least=0, asked="taken(path)", text="abc"):
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    script = SCRIPT.format(make=make, least=least, asked=asked)
    done = subprocess.run(
        [sys.executable, "-c", script, path], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1]
    )
    assert done.stderr == ""
    assert done.stdout.endswith("no process is left\n")
    return done.stdout.splitlines()[0]


def test_messages_come_in_order(tmp_path):
    found = run(tmp_path, "[send((i, b'x', None)) for i in range(3)]; send(None)")
    assert found == "True [(0, b'x', None), (1, b'x', None), (2, b'x', None)] None"


def test_more_messages_than_a_pipe_holds_wait(tmp_path):
    late = "(__import__('time').sleep(0.3), taken(path))[1]"
    found = run(tmp_path, "[send(b'x' * 10**5) for i in range(200)]; send(None)", asked=late)
    assert found.count("x") == 200 * 10**5


@pytest.mark.parametrize(
    ("make", "found"),
    [
        ("send(1)", "[1, 'cut']"),
        ("send(1); raise ValueError(path)", "[1, 'cut']"),
        ("send(1); send(object())", "[1, 'cut']"),
        ("os._exit(1)", "['cut']"),
    ],
)
def test_who_fails_or_ends_early_is_cut(tmp_path, make, found):
    assert run(tmp_path, make) == f"True {found} None"


def test_what_nobody_asks_for_is_ended(tmp_path):
    assert run(tmp_path, "import time; time.sleep(60)", asked="None") == "False [] None"


@pytest.mark.parametrize("least", [4, 10**9])
def test_small_files_are_not_worth_it(tmp_path, least):
    assert run(tmp_path, "send(1); send(None)", least) == "False [] None"


def test_no_process_is_forked_beside_threads(tmp_path):
    script = SCRIPT.replace("import os, sys", "import os, sys, threading").format(
        make="send(None)", least=0, asked="taken(path)"
    )
    path = tmp_path / "file"
    path.write_text("abc", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", script, path], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1]
    )
    assert done.stdout.splitlines()[0] == "False [] None"


STOPPED = """
import os, signal, sys, time
os.sched_getaffinity = lambda _: {0, 1}  # as if there were two cores
from pathlib import Path
from synperf.forked import begun, taken

def make(path, send):
    for number in range(12):
        send(b"x" * 10**6)
    send(None)

path = Path(sys.argv[1])
with begun(path, make, 0):
    forked = taken(path)
    time.sleep(0.1)  # the pipe is full by then
    os.kill(forked._process, signal.SIGSTOP)
    time.sleep(0.1)
    os.kill(forked._process, signal.SIGCONT)
    print([len(message) for message in forked.messages()] == [10**6] * 12)
"""

KILLED = """
import os, signal, sys
os.sched_getaffinity = lambda _: {0, 1}
from pathlib import Path
from synperf.forked import begun, taken

def make(path, send):
    while True:
        send(b"x" * 10**6)

path = Path(sys.argv[1])
with begun(path, make, 0):
    forked = taken(path)
    print(forked._process, flush=True)
    next(forked.messages())
    os.kill(os.getpid(), signal.SIGKILL)
"""

# A signal comes while the process is forked: to the one who forks, or to both.
SIGNALLED = """
import os, signal, sys
os.sched_getaffinity = lambda _: {{0, 1}}
from pathlib import Path
from synperf.cli.stop import Stopped, install
from synperf.forked import begun, taken
install()
fork = os.fork

def forked():
    process = fork()
    if process or {both}:
        os.kill(os.getpid(), signal.SIGTERM)
    return process

os.fork = forked
try:
    with begun(Path(sys.argv[1]), lambda path, send: [send(b"x" * 10**6) for _ in iter(int, 1)], 0):
        pass
except Stopped:
    print("stopped")
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print("no process is left")
"""


def ended(tmp_path, script):
    path = tmp_path / "file"
    path.write_text("abc", encoding="utf-8")
    command = [sys.executable, "-c", script, path]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60, cwd=Path(__file__).parents[1]
    )
    assert done.stderr == ""
    return done.stdout


def test_a_process_that_is_stopped_and_goes_on_writes_all(tmp_path):
    assert ended(tmp_path, STOPPED) == "True\n"


def test_none_is_left_where_the_one_who_asks_is_killed(tmp_path):
    process = Path("/proc", ended(tmp_path, KILLED).strip())  # ends once nobody has its output open
    assert not process.exists() or ") Z " in (process / "stat").read_text(encoding="ascii")


@pytest.mark.parametrize("both", [False, True])
def test_none_is_left_where_a_signal_comes_while_it_is_forked(tmp_path, both):
    assert ended(tmp_path, SIGNALLED.format(both=both)) == "stopped\nno process is left\n"
