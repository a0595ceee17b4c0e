"""One event of Chrome's trace-event JSON as torch.profiler writes it.

Source: "Trace Event Format", Google, 2016; the writers of pytorch/kineto.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from .kineto_args import NO_ARGS, NOTHING, Args, Value


class Event(msgspec.Struct, gc=False):
    """One event. Times stay text, since a double has too few digits for them."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: Value = None
    tid: Value = None
    ts: Raw = NOTHING
    dur: Raw = NOTHING
    args: Args = NO_ARGS


HALVES = frozenset("BE")  # phases of events whose begin and end stand apart
