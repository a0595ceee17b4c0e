"""What files say that are no timelines: counters of kernels, logs, memory; timelines are told apart by content."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import FieldError
from ..traces import recognised


def are_recorded(paths: Sequence[Path]) -> bool:
    """Whether the files are no timelines, but of a format that is read all the same.

    Raises:
        FieldError: some are and some are not.
    """
    others = [path for path in paths if not path.is_dir() and recognised(path) is None]
    found = _recorded(others) if others else []
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
    from ..traces.records import read_records
    from ..traces.records.ncu_csv import NcuReport
    from .ncu import analyze_counters

    found = [one for path in paths for one in read_records(path)]
    return [analyze_counters(one) if isinstance(one, NcuReport) else one for one in found]


def _recorded(paths: Sequence[Path]) -> list[Path]:
    """Those of the files that are of such a format."""
    from ..traces.records import recognised as recorded  # slow to import, and a timeline needs none of it

    return [path for path in paths if recorded(path)]
