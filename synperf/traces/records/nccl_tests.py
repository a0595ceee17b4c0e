"""Logs of nccl-tests and rccl-tests: time, algorithm and bus bandwidth of a collective by message size.

Prefixes that a launcher puts before lines are ignored; the last column is `error` in older ones and `#wrong` in newer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ...errors import FileFormatError
from ...light_classes import dataclass
from ..events import Caution
from ..sources import Source
from .damage import damage
from .lines import contains, lines

FORMAT = "nccl_tests"
_HEADER = re.compile(r"#\s+size\s+count\s+type\s.*time\s+algbw\s+busbw")
_HEADER_BYTES = re.compile(_HEADER.pattern.encode())
_ROW = re.compile(
    r"(?:^|[:>\]\s])\s*(\d+)\s+(\d+)\s+((?!\d)\w+)"  # size, count, type
    r"(\s+(?!N/A)[A-Za-z]\w*)?(?:\s+-?\d+)?"  # operation, root
    r"((?:\s+(?:[\d.e+-]+|N/A)){8}|(?:\s+(?:[\d.e+-]+|N/A)){4})\s*$"  # time, two bandwidths and errors, once or twice
)
_LOOKS = re.compile(
    r"(?:^|[:>\]\s])\s*\d+\s+\d+\s+(?:float|double|half|int\d*|uint\d+|bfloat16|fp8\w*|f8\w*|char)\b"
    r"|(?:\s+\d+\.\d+){2}\s"  # of a table, two decimals in a row
)
_DEVICE = re.compile(
    r"#\s+Rank\s+(\d+)\s+(?:Group\s+\d+\s+)?Pid\s+\d+\s+on\s+\S+\s+device\s+\d+\s+\[[^\]]*\]\s+(.+?)\s*$"
)
_AVERAGE = re.compile(r"# Avg bus bandwidth\s*:\s*([\d.]+)")
_WRONG = re.compile(r"# Out of bounds values\s*:\s*(\d+)")
_NAME = re.compile(r"(?:Collective test starting:\s*|/|\s)(\w+)_perf\b")
_VERSION = re.compile(r"\b([nr]ccl-tests)[: ]+version[: ]+(\S+)", re.I)
_RCCL = re.compile(r"\bRCCL\b|rccl-tests", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """One way to run it; None where the log says `N/A`."""

    time_s: float | None
    algbw_bytes_per_s: float | None
    busbw_bytes_per_s: float | None
    wrong: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One message size. `in_place` is None where the log has one column of times."""

    size_bytes: int
    count: int
    type: str
    redop: str
    out_of_place: Timed
    in_place: Timed | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclTests:
    """A run. `collective` and `version` are empty where the log does not say them."""

    source: str
    library: str
    version: str
    collective: str
    devices: tuple[str, ...]  # by rank
    rows: tuple[Row, ...]
    avg_busbw_bytes_per_s: float | None  # as the log says
    out_of_bounds: int | None
    cautions: tuple[Caution, ...]

    @property
    def max_busbw_bytes_per_s(self) -> float | None:
        """The best of all sizes, out of place."""
        found = [row.out_of_place.busbw_bytes_per_s for row in self.rows]
        return max((value for value in found if value is not None), default=None)


def recognises(head: bytes, path: Path) -> bool:
    """Whether the file has the header of such a table."""
    return contains(_HEADER_BYTES, head, path)


@dataclass(slots=True)
class _Told:
    library: str = "nccl-tests"
    version: str = ""
    collective: str = ""
    average: float | None = None
    wrong: int | None = None
    is_table: bool = False  # whether the lines are those of a table


def read(path: Path) -> NcclTests:
    """The rows of all tables in the log.

    Raises:
        FileFormatError: none of its rows can be read.
    """
    source, told, devices, rows, unread = Source(path), _Told(), {}, [], 0
    for line in lines(source):
        found = _row(line)
        if found is not None:
            rows.append(found)
        elif device := _DEVICE.search(line):
            devices[int(device[1])] = device[2]
        elif told.is_table and "#" not in line and _LOOKS.search(line):
            unread += 1
        else:
            _tell(told, line)
    if unread and not rows:
        raise FileFormatError(f"{path.name}: no row of this log of {told.library} can be read")
    return NcclTests(
        source=path.name, library=told.library, version=told.version, collective=told.collective,
        devices=tuple(devices[rank] for rank in sorted(devices)), rows=tuple(rows), avg_busbw_bytes_per_s=told.average,
        out_of_bounds=told.wrong, cautions=(*damage(source, "rows", unread, len(rows)), *_unfinished(told, rows)),
    )  # fmt: skip


def _row(line: str) -> Row | None:
    match = _ROW.search(line)
    if match is None or "#" in line:
        return None
    times, redop = match[5].split(), (match[4] or "").strip()
    return Row(
        size_bytes=int(match[1]), count=int(match[2]), type=match[3],
        redop="" if redop == "none" else redop,
        out_of_place=_timed(times[:4]), in_place=_timed(times[4:]) if len(times) == 8 else None,
    )  # fmt: skip


def _timed(cells: list[str]) -> Timed:
    time_us, algbw, busbw, wrong = map(_number, cells)
    return Timed(
        time_s=None if time_us is None else time_us * 1e-6,
        algbw_bytes_per_s=None if algbw is None else algbw * 1e9,
        busbw_bytes_per_s=None if busbw is None else busbw * 1e9,
        wrong=None if wrong is None else int(wrong),
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _tell(told: _Told, line: str) -> None:
    if _HEADER.search(line):
        told.is_table = True
    elif match := _AVERAGE.search(line):
        told.is_table = False
        told.average = float(match[1]) * 1e9 if _number(match[1]) is not None else None
    elif match := _WRONG.search(line):
        told.wrong = int(match[1])
    elif match := _VERSION.search(line):
        told.library, told.version = match[1].lower(), match[2]
    elif match := _NAME.search(line):
        told.collective = told.collective or match[1]
    if _RCCL.search(line):
        told.library = "rccl-tests"


def _unfinished(told: _Told, rows: list[Row]) -> Iterator[Caution]:
    if not rows:
        yield Caution(text="there is a header and no row: the run hung or was stopped")
    elif told.average is None:
        yield Caution(
            text="the log ends before its average: the run hung or was stopped, and larger sizes may be missing"
        )
    if told.wrong:
        yield Caution(
            text="values were wrong: the times are those of a collective that does not work", count=told.wrong
        )
