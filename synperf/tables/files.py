"""Tables in files: read in batches, predicted, written under a temporary name and renamed when complete."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from shutil import copyfileobj
from stat import S_ISDIR, S_ISREG
from tempfile import mkdtemp
from types import ModuleType

from ..errors import FieldError, MissingExtraError, PerfError
from . import csv_text
from .batch import Batch
from .cleanup import remove, uninterrupted
from .grouping import Plan, predict_batch
from .outfile import mode, replacing

BATCH_ROWS = 100_000
STDIN = "-"
_FORMATS = {".csv": "csv_text", ".jsonl": "json_lines", ".ndjson": "json_lines", ".parquet": "frames"}


def predict_file(calls: str | Path, plan: Plan, out: str | Path | None = None) -> None:
    """Predicts a table in a file and writes it with the results: to `out`, or as CSV to standard output.

    The name's ending tells the format: .csv, .jsonl or .ndjson, .parquet; `-` is CSV on standard input.

    Raises:
        PerfError: the message names file, row and field; nothing is written then.
    """
    try:
        batches = read("calls", calls)
        with _target(calls, out) as (path, module), module.Writer(path) as writer:
            for batch in batches:
                writer.write(batch, predict_batch(batch, plan))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise PerfError(f"{error.filename or out or 'standard output'}: {error.strerror or error}") from error


def read(field: str, source: str | Path) -> Iterator[Batch]:
    """The rows of a table in a file, or as CSV from standard input where `source` is `-`; at least one batch.

    Raises:
        PerfError: there is no such table, or it is damaged; what names no row begins with `field`.
        OSError: it cannot be read.
    """
    if str(source) == STDIN:
        if sys.stdin is None:
            raise FieldError(f"{field}: standard input is closed")
        return csv_text.read_stream(sys.stdin.buffer, "standard input", BATCH_ROWS)
    path = Path(source)
    found = mode(path)
    if found is None:
        raise FieldError(f"{field}: no file {str(source)!r}")
    if S_ISDIR(found):
        raise FieldError(f"{field}: {str(source)!r} is a folder, not a table")
    reader = _format(field, path) if S_ISREG(found) else csv_text  # a pipe has no ending
    batches: Iterator[Batch] = reader.read(path, path.name, BATCH_ROWS)
    return batches


def _format(field: str, path: Path) -> ModuleType:
    suffix = path.suffix.lower()
    if suffix not in _FORMATS:
        raise FieldError(f"{field}: {path.name!r} must end in {', '.join(_FORMATS)}, which tells its format")
    try:
        return import_module(f".{_FORMATS[suffix]}", __package__)
    except ImportError as error:
        raise MissingExtraError.of(f"{field}: {suffix[1:]}", "tables") from error


@contextmanager
def _target(calls: str | Path, out: str | Path | None) -> Iterator[tuple[Path, ModuleType]]:
    """(where to write, the module that writes) of a file that is renamed to `out`, or copied where it cannot be."""
    if out is None:
        if sys.stdout is None:
            raise FieldError("out: standard output is closed; right would be --out FILE")
        with _scratch() as path:
            yield path, csv_text
            _copy(path)
        return
    module = _format("out", Path(out))
    if str(calls) != STDIN and mode(Path(out)) is not None and Path(out).samefile(calls):
        raise FieldError(f"out: {str(out)!r} is the calls file itself; name another")
    with replacing("out", Path(out)) as part:
        yield part, module


@contextmanager
def _scratch() -> Iterator[Path]:
    """A file in a temporary folder, both of which are gone at the end."""
    folder = Path(mkdtemp(prefix="synperf-"))
    try:
        yield folder / "out.csv"
    finally:
        uninterrupted(lambda: remove([folder]))


def _copy(path: Path) -> None:
    sys.stdout.flush()
    with path.open("rb") as file:
        copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()
