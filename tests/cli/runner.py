"""Runs a command in this process, and says what a user would see."""

import io
import sys
from dataclasses import dataclass

from synperf.cli import run


@dataclass
class Seen:
    """Exit code, standard output and standard error."""

    code: int
    out: str
    err: str


def invoke(*arguments: str, stdin: bytes = b"") -> Seen:
    """`synperf ARGUMENTS`, with `stdin` on standard input."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace") for _ in range(2))
    kept = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"), out, err
    try:
        code = run(arguments)
    finally:
        sys.stdin, sys.stdout, sys.stderr = kept
    return Seen(code, _text(out), _text(err))


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()


def assert_refused(seen: Seen) -> None:
    """Bad input: exit code 2, one line on standard error, nothing on standard output."""
    assert seen.code == 2, seen
    assert seen.out == ""
    assert seen.err.startswith("synperf: ")
    assert seen.err.count("\n") == 1
    assert seen.err.endswith("\n")
    assert "Traceback" not in seen.err
