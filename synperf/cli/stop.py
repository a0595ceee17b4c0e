"""Signals that ask the process to stop: each is an exception, once, so that all that is unfinished is removed."""

from __future__ import annotations

import signal
import sys
from typing import Any

_WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}
_raised: list[int] = []  # the signal that was answered; later ones are not


class Stopped(KeyboardInterrupt):
    """A signal came, `number`."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def install() -> None:
    """Makes the signals raise `Stopped`; those that are ignored, as under nohup, stay so."""
    for name in _WORDS:
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def word(number: int) -> str:
    """What happened, in a word or two."""
    return _WORDS[signal.Signals(number).name]


def _stop(number: int, _: Any) -> None:
    if not _raised and not _is_stopping(sys.exc_info()[1]):
        _raised.append(number)
        raise Stopped(number)


def _is_stopping(error: BaseException | None) -> bool:
    """Whether cleaning up has begun: an interrupt is on its way, such as one that polars raised itself."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None
