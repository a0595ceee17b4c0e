"""JSON lines: one object a line. Lines stay as they are, with the results appended to each object."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from ..errors import FileFormatError
from ..kernels import family
from .batch import Batch, Cells, is_empty, plain
from .headings import FILLED, number_fields
from .results import merge, typed

_KEY_END = re.compile(rb'"\s*:')
_DECODER = msgspec.json.Decoder(dict[str, Any])
_BOM = b"\xef\xbb\xbf"


def read(path: Path, name: str, size: int) -> Iterator[Batch]:
    """Batches of at most `size` objects, at least one; blank lines are left out.

    Raises:
        FileFormatError: a line is not an object, or names a field twice.
    """
    with path.open("rb") as file:
        if file.read(len(_BOM)) != _BOM:
            file.seek(0)
        row = line = 1
        while True:
            lines = list(islice(file, size))
            numbered = [(line + i, text.strip()) for i, text in enumerate(lines) if not text.isspace()]
            if numbered or row == 1:
                yield _batch(numbered, row, name)
            if len(lines) < size:
                return
            row, line = row + len(numbered), line + len(lines)


def _batch(numbered: list[tuple[int, bytes]], row: int, name: str) -> Batch:
    objects = [_object(text, line, name) for line, text in numbered]
    names = dict.fromkeys(key for one in objects for key in one)
    columns: dict[str, Cells] = {key: [one.get(key) for one in objects] for key in names}
    return Batch(
        columns=columns,
        size=len(objects),
        place=lambda i: f"row {row + i} (line {numbered[i][0]})",
        rows=[text for _, text in numbered],
    )


def _object(text: bytes, line: int, name: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = _DECODER.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FileFormatError(f"line {line}: not a JSON object: {error}") from error
    if len(_KEY_END.findall(text)) != len(found):
        _check_keys(text, line)
    return found


def _check_keys(text: bytes, line: int) -> None:
    """Checks that the outermost object names no field twice."""

    def checked(pairs: list[tuple[str, Any]]) -> list[str]:
        return [key for key, _ in pairs]

    keys = json.loads(text, object_pairs_hook=checked)
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise FileFormatError(f"line {line}: field {twice[0]!r} is there twice")


class Writer:
    """Appends batches and their answers to an open file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, batch: Batch, answers: Mapping[str, Cells]) -> None:
        """One line a row: the input's own text where it was JSON lines, else its cells, and the results."""
        filled = [name for name in FILLED if name in batch.columns and any(map(is_empty, batch.columns[name]))]
        if batch.rows is None or filled or not all(isinstance(text, bytes) for text in batch.rows):
            self._file.writelines(_encoded(_objects(batch, answers)))
            return
        fresh = {name: cells for name, cells in answers.items() if name not in batch.columns}
        results = msgspec.json.encode(_records(fresh, batch.size))
        self._file.writelines(_spliced(batch.rows, results))

    def finish(self) -> None:
        """Nothing is held back."""
