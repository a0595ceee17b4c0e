"""What another process makes of a file while this one still imports the modules that ask for it.

It is forked, which is safe as long as this one has no other threads: before it has imported what starts some.
"""

from __future__ import annotations

import marshal
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Never

Send = Callable[[Any], None]
Make = Callable[[Path, Send], None]
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
_LENGTH_BYTES = 8
_SET_SIZE, _PIPE_BYTES = 1031, 2**20  # F_SETPIPE_SZ of linux/fcntl.h; what anyone may ask for by default
_WITH_THREADS = ("threading", "numpy")  # modules
_WAITING = 4  # messages that wait to be taken
_begun: dict[Path, Forked] = {}


class CutError(Exception):
    """The other process ended before it was done."""


def _is_safe() -> bool:
    """Whether this process may be forked, and another core is there for the other one."""
    if not sys.platform.startswith("linux") or len(os.sched_getaffinity(0)) < 2:
        return False
    return not any(name in sys.modules for name in _WITH_THREADS)


@contextmanager
def begun(path: Path, make: Make, least_bytes: int) -> Iterator[None]:
    """Makes something of a file of at least that size, to be `taken` within.

    `make` imports what it needs by itself. It sends what `marshal` can write, and None at the end.
    """
    try:
        with suppress(OSError):  # no such file, or no more processes: whoever asks for it says so
            if _is_safe() and path.stat().st_size >= least_bytes:
                with _signals_later():
                    _begun[path] = Forked(path, make)
        yield
    finally:
        if (left := taken(path)) is not None:
            left.close()


@contextmanager
def _signals_later() -> Iterator[None]:
    """Signals that ask to stop wait, so that none comes while a process is there that nobody knows yet."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _numbers())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _numbers() -> list[int]:
    return [getattr(signal, name) for name in _SIGNALS]


def taken(path: Path) -> Forked | None:
    """What is made of a file, for the one who asks first; None where nothing is."""
    return _begun.pop(path, None)


class Forked:
    """A forked process, and the pipe through which its messages come."""

    def __init__(self, path: Path, make: Make) -> None:
        from fcntl import fcntl  # Windows has none

        reader, writer = os.pipe()
        with suppress(OSError):  # a user has room for so many bytes of pipes
            fcntl(writer, _SET_SIZE, _PIPE_BYTES)
        self._pipe = os.fdopen(reader, "rb")
        self._process = os.fork()
        if not self._process:
            _work(path, make, reader, writer)
        os.close(writer)

    def messages(self) -> Iterator[Any]:
        """All messages but the last one.

        Raises:
            CutError: that one did not come.
        """
        try:
            while (message := self._message()) is not None:
                yield message
        finally:
            self.close()

    def close(self) -> None:
        """Ends the process."""
        self._pipe.close()
        with suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGKILL)
        with suppress(ChildProcessError):  # where SIGCHLD is ignored, nobody needs to wait
            os.waitpid(self._process, 0)

    def _message(self) -> Any:
        length = int.from_bytes(self._pipe.read(_LENGTH_BYTES), "big")
        text = self._pipe.read(length)
        if not length or len(text) < length:
            raise CutError
        return marshal.loads(text)


def _work(path: Path, make: Make, reader: int, writer: int) -> Never:
    """What the forked process does. Where it fails it just ends: the one who asks does the same, and tells."""
    try:
        os.close(reader)  # else the pipe would stay whole when the one who asks has been killed
        for number in _numbers():
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _numbers())
        with os.fdopen(writer, "wb") as pipe:  # with a buffer, which writes all of a text: a stop in it leaves the rest
            _send_all(path, make, pipe)
    finally:
        os._exit(0)


def _send_all(path: Path, make: Make, pipe: BinaryIO) -> None:
    """Writes messages while the next ones are made."""
    from queue import Queue  # with threads, of which there are none before
    from threading import Thread

    waiting: Queue[bytes] = Queue(_WAITING)

    def write() -> None:
        try:
            while text := waiting.get():
                pipe.write(len(text).to_bytes(_LENGTH_BYTES, "big"))
                pipe.write(text)
                pipe.flush()
        except Exception:  # nobody reads, or there is no memory: whoever makes messages would wait for ever
            os._exit(0)

    writer = Thread(target=write, daemon=True)
    writer.start()
    try:
        make(path, lambda message: waiting.put(marshal.dumps(message)))
    finally:
        waiting.put(b"")
        writer.join()
