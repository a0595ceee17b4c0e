"""What the category of an event means, in the spellings of every age since 2020.

Source: "Trace Event Format", Google, 2016; the writers of pytorch/kineto.
"""

from __future__ import annotations

from .events import Kind
from .kineto_fields import HALVES

CATEGORIES = {
    "kernel": Kind.KERNEL,
    "gpu_memcpy": Kind.MEMCPY,
    "memcpy": Kind.MEMCPY,
    "gpu_memset": Kind.MEMSET,
    "memset": Kind.MEMSET,
    "cuda_sync": Kind.SYNC,
    "cuda_runtime": Kind.RUNTIME,
    "runtime": Kind.RUNTIME,
    "mtia_runtime": Kind.RUNTIME,
    "xpu_runtime": Kind.RUNTIME,
    "privateuse1_runtime": Kind.RUNTIME,
    "cuda_driver": Kind.DRIVER,
    "xpu_driver": Kind.DRIVER,
    "privateuse1_driver": Kind.DRIVER,
    "cpu_op": Kind.OPERATOR,
    "operator": Kind.OPERATOR,
    "user_annotation": Kind.ANNOTATION,
    "gpu_user_annotation": Kind.GPU_ANNOTATION,
    "python_function": Kind.PYTHON,
    "overhead": Kind.OVERHEAD,
    "cuda_profiler_range": Kind.COUNTERS,
    "trace": Kind.SPAN,
    # the findings of synperf's own files, which are said again
    "synperf": Kind.OTHER,
    # what MTIA writes of its device
    "mtia_ccp_events": Kind.KERNEL,
}
UNKNOWN = 255  # is no kind
_FLOWS_AND_NAMES = frozenset("MstfCPNODbneSTpFvVRcj(),")  # what says nothing of its own here: `correlation` does
_INSTANTS = frozenset("iI")


class Kinds(dict[tuple[str, str], int]):
    """The kind of each phase and category; `Kind.OTHER` is left out, and `UNKNOWN` is what nobody knows.

    `unknown` has the categories of the latter; `halves` says whether there are events whose begin and end stand apart.
    """

    def __init__(self) -> None:
        self.unknown: set[str] = set()
        self.halves = False

    def __missing__(self, both: tuple[str, str]) -> int:
        phase, category = both
        self[both] = kind = int(_kind(phase, category))  # plain numbers become columns faster
        self.halves |= phase in HALVES
        if kind == UNKNOWN:
            self.unknown.add(category or "none")
        return kind


def _kind(phase: str, category: str) -> int:
    if phase == "X":
        return CATEGORIES.get(category.lower(), UNKNOWN)
    if CATEGORIES.get(category.lower(), Kind.SPAN) is not Kind.SPAN and phase not in HALVES:
        return UNKNOWN  # work of another phase than that of work
    if phase in _INSTANTS:
        return Kind.MARK
    return Kind.OTHER if phase in _FLOWS_AND_NAMES | HALVES else UNKNOWN
