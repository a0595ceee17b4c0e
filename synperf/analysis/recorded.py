"""What files say that are no timelines: counters of kernels, logs, memory; timelines are told apart by content."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import FieldError
from ..traces import recognised
from ..traces.records import read_records
from ..traces.records import recognised as recorded
from ..traces.records.ncu_csv import NcuReport
from .ncu import analyze_counters


def are_recorded(paths: Sequence[Path]) -> bool:
    """Whether the files are no timelines, but of a format that is read all the same.

    Raises:
        FieldError: some are and some are not.
    """
    found = [path for path in paths if not path.is_dir() and recognised(path) is None and recorded(path)]
    if found and len(found) < len(paths):
        other = next(path for path in paths if path not in found)
        raise FieldError(
            f"trace: {found[0].name} is no timeline and {other.name} may be; right would be a call for each"
        )
    return bool(found)


def analyze_records(paths: Sequence[Path]) -> list[Any]:
    """The results of all files; a report of counters with its findings.

    Raises:
        FileFormatError: nothing of a file can be read.
    """
    found = [one for path in paths for one in read_records(path)]
    return [analyze_counters(one) if isinstance(one, NcuReport) else one for one in found]
