"""What was measured so far, one line each in a file beside the output, and the plan in the first: nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ..errors import FileFormatError, PerfError
from .plan import Plan
from .timed import Value

VERSION = 1


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One call in one state of L2: times in seconds, and where, when and with what they were taken."""

    family: str
    fields: Mapping[str, Value]
    l2: str
    time_s: float
    q1_s: float
    q3_s: float
    repeats: int
    calls: int
    timer: str
    engine: str
    version: str  # of torch
    kernel: str | None
    library: str
    gpu: str | None
    device_name: str
    driver: str | None
    runtime: str | None
    cpu_threads: int | None
    clock_hz: float | None
    power_w: float | None
    timestamp: str
    host: str


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one unit of the plan: a row, or the reason why there is none."""

    unit: int
    row: Row | None = None
    skipped: str = ""


class _Head(msgspec.Struct, frozen=True, kw_only=True):
    """The first line."""

    collection: int
    plan: Plan


class Journal:
    """The lines of one collection; each is on the disk before the next call is timed."""

    def __init__(self, path: Path, plan: Plan, entries: list[Entry]) -> None:
        self.path, self.plan, self.entries = path, plan, entries

    @classmethod
    def begin(cls, path: Path, plan: Plan) -> Journal:
        """A new file with the plan alone.

        Raises:
            PerfError: it cannot be written.
        """
        journal = cls(path, plan, [])
        journal._append(_Head(collection=VERSION, plan=plan))
        return journal

    @classmethod
    def read(cls, path: Path) -> Journal:
        """The file as it is; a last line that was cut short is taken off, so that its call is timed again.

        Raises:
            FileFormatError: another line is damaged, or a unit comes twice or is none of the plan.
        """
        lines = _lines(path)
        try:
            head = msgspec.json.decode(lines[0], type=_Head)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, PerfError) as wrong:
            raise _damaged(path, 1, wrong) from None
        journal = cls(path, head.plan, [])
        units = set(range(len(head.plan.units())))
        for number, line in enumerate(lines[1:], 2):
            try:
                entry = msgspec.json.decode(line, type=Entry)
                units.remove(entry.unit)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError) as wrong:
                raise _damaged(path, number, wrong) from None
            journal.entries.append(entry)
        return journal

    def left(self) -> list[int]:
        """Units of the plan that are not in it yet."""
        done = {entry.unit for entry in self.entries}
        return [unit for unit in range(len(self.plan.units())) if unit not in done]

    def rows(self) -> list[Row]:
        """What was measured, in the order of the plan."""
        ordered = sorted(self.entries, key=lambda entry: entry.unit)
        return [entry.row for entry in ordered if entry.row is not None]

    def add(self, entry: Entry) -> None:
        """One more line.

        Raises:
            PerfError: it cannot be written.
        """
        self._append(entry)
        self.entries.append(entry)

    def _append(self, line: _Head | Entry) -> None:
        """One write of the whole line, which no signal cuts."""
        try:
            with self.path.open("ab", buffering=0) as file:
                file.write(msgspec.json.encode(line) + b"\n")
                os.fsync(file.fileno())
        except OSError as wrong:
            raise PerfError(f"out: {self.path.name}: {wrong.strerror}") from None


def _lines(path: Path) -> list[bytes]:
    """The whole lines; what stands behind the last one is cut off the file."""
    try:
        text = path.read_bytes()
        whole, _, rest = text.rpartition(b"\n")
        if rest:
            with path.open("r+b") as file:
                file.truncate(len(text) - len(rest))
    except OSError as wrong:
        raise FileFormatError(f"{path.name}: {wrong.strerror}") from None
    return whole.split(b"\n")


def _damaged(path: Path, line: int, wrong: Exception) -> FileFormatError:
    why = "a unit that comes twice or is none of the plan" if isinstance(wrong, KeyError) else str(wrong)
    return FileFormatError(f"{path.name} line {line}: damaged ({why}); mend it, or remove the file to begin anew")
