"""Standard output is for the answer: whatever else is written to it goes to standard error."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import TextIOWrapper

_OUT, _ERR = 1, 2  # file descriptors
_UNKNOWN = "backslashreplace"  # µ on a terminal that has none


def reserve() -> None:
    """Leaves standard output to `sys.stdout` alone.

    Files of a user's own, libraries, and what they start may write to the descriptor or to `sys.__stdout__`.
    """
    _fill()
    if isinstance(sys.stderr, TextIOWrapper):
        sys.stderr.reconfigure(errors=_UNKNOWN)
    told = sys.stdout
    if not isinstance(told, TextIOWrapper):  # the caller closed it
        return
    told.reconfigure(errors=_UNKNOWN)
    kept = os.dup(_OUT)
    os.dup2(_ERR, _OUT)
    sys.stdout = TextIOWrapper(
        os.fdopen(kept, "wb"), told.encoding, _UNKNOWN, line_buffering=told.line_buffering,
        write_through=told.write_through,
    )  # fmt: skip


def close() -> None:
    """Ends the answer: what files of a user's own print when the process ends goes to standard error too."""
    own, sys.stdout = sys.stdout, sys.stderr
    if own is not sys.__stdout__ and own is not None:
        with suppress(OSError):  # nobody reads it any more: that has been told
            own.close()


def _fill() -> None:
    """Puts nothing in the place of streams that the caller closed, so that no file or pipe gets their numbers."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= _ERR:
        os.set_inheritable(number, True)  # what is started has them too
    os.close(number)
    if sys.stderr is None:
        sys.stderr = os.fdopen(_ERR, "w", closefd=False)
