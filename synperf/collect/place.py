"""Where the rows go, and their journal: what can be said of it before torch is imported."""

from __future__ import annotations

from pathlib import Path

from ..errors import FieldError
from ..tables.outfile import require_place


def journal_of(out: Path) -> Path:
    """The journal beside an output."""
    return out.with_name(f"{out.name}.journal")


def require_out(out: Path) -> None:
    """Checks that rows can be written at a path.

    Raises:
        FieldError: they cannot.
    """
    if out.suffix != ".parquet":
        raise FieldError(f"out: {out.name} should end in .parquet")
    require_place("out", out)


def require_begun(out: Path) -> None:
    """Checks that there is something to go on with.

    Raises:
        FieldError: there is nothing.
    """
    if not out.exists() and not journal_of(out).exists():
        raise FieldError(f"resume: there is nothing at {out} to go on with; right would be no --resume, which begins")
