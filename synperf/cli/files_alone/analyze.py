"""`synperf analyze` where it is given files alone: a single one is read while what asks the questions is imported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ...forked import begun

_WORTH_BYTES = 2**17  # less is read before a process is forked


def analyze(traces: Sequence[Path]) -> None:
    with begun(traces[0], _read, _WORTH_BYTES) if len(traces) == 1 else nullcontext():
        from ..analyzed import answer
        from ..trace_files import Files

        answer(traces, Files(), False, False)


def _read(path: Path, put: Callable[[Any], None]) -> None:
    from ...traces.kineto_early import send

    send(path, put)
