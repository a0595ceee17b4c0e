"""Logs of Megatron-LM, DeepSpeed and torchtitan: what they print of each iteration.

Prefixes (host, rank, time) before what is looked for are ignored. Of an iteration that several ranks print, the first
counts. MB of Megatron and GB of DeepSpeed are 2**20 and 2**30 bytes, as their sources divide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from ...errors import FileFormatError
from ...light_classes import dataclass
from ..events import Caution
from ..sources import Source
from .damage import damage
from .lines import contains, lines

FORMAT = "training_log"
_MEGATRON = re.compile(r"\biteration\s+(\d+)\s*/\s*(\d+)\s*\|(.*)")
_TITAN = re.compile(r"\bstep:\s*(\d+)\s+(?:\w+:.*?)?\bmemory:\s*([\d.]+)\s*GiB\(([\d.]+)%\)\s+(.*)")
_DEEPSPEED = re.compile(r"\b(\d+),\s*RunningAvgSamplesPerSec=[\d.]+,\s*CurrSamplesPerSec=([\d.]+)")
_ANY = re.compile(
    rb"\biteration\s+\d+\s*/\s*\d+\s*\|.*elapsed time per iteration|\bstep:\s*\d+\s.*\bmemory:\s*[\d.]+\s*GiB"
    rb"|RunningAvgSamplesPerSec="
)
_LOOKS = re.compile(r"SamplesPerSec=|elapsed time per iteration|\bmemory:\s*[\d.]+\s*GiB|\bmfu:\s*\d|\btflops:\s*\d")
_PAIR = re.compile(r"\s*([^|:]+?)\s*:\s*([^|]*?)\s*(?:\||$)")
_TITAN_PAIR = re.compile(r"(\w+):\s*([\d.,]+)(%?)")
_MEMORY = re.compile(r"memory \(MB\)\s*\|(.*)")
_DEEPSPEED_MEMORY = re.compile(r"\bMaxMemAllocated=([\d.]+)\s*GB|\bMax_MA\s+([\d.]+)\s*GB")
_SEQUENCE = re.compile(r"\bseq_length\s*\.{2,}\s*(\d+)")
_MIB, _GIB = 2**20, 2**30
_WARM_UP = 1  # iterations that a median leaves out
_ENOUGH = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration:
    """What the log says of one; None where it does not. `flop_per_s` and `mfu` are of one GPU; MFU is 0..1.

    `tokens_per_s` is of the job for Megatron, and of one GPU for torchtitan, which prints it so.
    """

    iteration: int
    time_s: float | None = None
    flop_per_s: float | None = None
    mfu: float | None = None
    tokens_per_s: float | None = None
    samples_per_s: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingLog:
    """`peak_memory_bytes` is the most that any line says to have been allocated at once."""

    source: str
    framework: str
    iterations: tuple[Iteration, ...]
    planned: int | None
    peak_memory_bytes: int | None
    cautions: tuple[Caution, ...]

    def median(self, field: str) -> float | None:
        """Over the iterations after the first, which warms up, where enough others say it."""
        found = [value for one in self.iterations if (value := getattr(one, field)) is not None]
        return median(found[_WARM_UP:] if len(found) > _ENOUGH else found) if found else None


def recognises(head: bytes, path: Path) -> bool:
    """Whether the file has a line of an iteration."""
    return contains(_ANY, head, path)


class _Log:
    def __init__(self) -> None:
        self.found: dict[str, dict[int, Iteration]] = {"Megatron": {}, "torchtitan": {}, "DeepSpeed": {}}
        self.peak: int | None = None
        self.planned: int | None = None
        self.sequence: int | None = None
        self.unread = 0

    def add(self, line: str) -> None:
        if match := _MEGATRON.search(line):
            self.planned = int(match[2])
            self._keep("Megatron", self._megatron(int(match[1]), dict(_PAIR.findall(match[3]))))
        elif match := _TITAN.search(line):
            self._keep("torchtitan", self._titan(match))
        elif match := _DEEPSPEED.search(line):
            self._keep("DeepSpeed", Iteration(iteration=int(match[1]), samples_per_s=_number(match[2])))
        elif match := _SEQUENCE.search(line):
            self.sequence = int(match[1])
        elif _LOOKS.search(line):
            self.unread += 1
        self._memory(line)

    def _keep(self, framework: str, one: Iteration) -> None:
        if framework != "torchtitan" and one.time_s is None and one.samples_per_s is None:
            self.unread += 1
        else:
            self.found[framework].setdefault(one.iteration, one)

    def _megatron(self, number: int, said: dict[str, str]) -> Iteration:
        time_ms = _number(said.get("elapsed time per iteration (ms)", ""))
        tflop = next((_number(value) for key, value in said.items() if "tflop" in key.lower()), None)
        length = _number(said.get("actual seqlen", "")) or self.sequence
        batch = _number(said.get("global batch size", ""))
        tokens = batch * length if batch and length else None
        return Iteration(
            iteration=number, time_s=None if time_ms is None else time_ms * 1e-3,
            flop_per_s=None if tflop is None else tflop * 1e12,
            samples_per_s=_number(said.get("samples per second", "")),
            tokens_per_s=tokens * 1e3 / time_ms if tokens and time_ms else None,
        )  # fmt: skip

    def _titan(self, match: re.Match[str]) -> Iteration:
        said = {key: _number(value) for key, value, _ in _TITAN_PAIR.findall(match[4])}
        tflop, mfu, memory = said.get("tflops"), said.get("mfu"), _number(match[2])
        self._peak(memory, _GIB)
        return Iteration(
            iteration=int(match[1]), flop_per_s=None if tflop is None else tflop * 1e12,
            mfu=None if mfu is None else mfu / 100, tokens_per_s=said.get("tps", said.get("wps")),
            memory_bytes=None if memory is None else round(memory * _GIB),
        )  # fmt: skip

    def _memory(self, line: str) -> None:
        if match := _MEMORY.search(line):
            said: dict[str, str] = dict(_PAIR.findall(match[1]))
            self._peak(_number(said.get("max allocated", said.get("allocated", ""))), _MIB)
        elif match := _DEEPSPEED_MEMORY.search(line):
            self._peak(_number(str(match[1] or match[2])), _GIB)

    def _peak(self, value: float | None, unit: int) -> None:
        if value is not None:
            self.peak = max(self.peak or 0, round(value * unit))


def read(path: Path) -> TrainingLog:
    """The iterations of the framework that says most of them.

    Raises:
        FileFormatError: of no iteration a time or rate can be read.
    """
    source, log = Source(path), _Log()
    for line in lines(source):
        log.add(line)
    framework = next((name for name, found in log.found.items() if found), "")
    if not framework:
        raise FileFormatError(f"{path.name}: no iteration of this training log can be read: none has a time or a rate")
    iterations = tuple(log.found[framework].values())
    return TrainingLog(
        source=path.name, framework=framework, iterations=iterations, planned=log.planned, peak_memory_bytes=log.peak,
        cautions=(*damage(source, "iterations", log.unread, len(iterations)), *_missing(log.planned, iterations)),
    )  # fmt: skip


def _missing(planned: int | None, found: tuple[Iteration, ...]) -> Iterator[Caution]:
    if planned is not None and found[-1].iteration < planned:
        yield Caution(text=f"the log ends at iteration {found[-1].iteration} of {planned}")


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None
