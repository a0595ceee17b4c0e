"""JSON lines: one object a line. Lines stay as they are, with the results appended to each object."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from ..errors import FileFormatError
from .batch import Batch, Cells, is_empty
from .headings import FILLED
from .results import merge, records, typed_columns

_KEY_END = re.compile(rb'"\s*:')
_DECODER = msgspec.json.Decoder(dict[str, Any])
_RAW = msgspec.json.Decoder(dict[str, msgspec.Raw])  # keeps the text of every value
_ENCODER = msgspec.json.Encoder(enc_hook=str)


def read(path: Path, name: str, size: int) -> Iterator[Batch]:
    """Batches of at most `size` objects, at least one; blank lines are left out.

    Raises:
        FileFormatError: a line is not an object, or names a field twice.
    """
    with path.open("rb") as file:
        if file.read(len(BOM_UTF8)) != BOM_UTF8:
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
        name=name,
        columns=columns,
        size=len(objects),
        place=lambda i: f"row {row + i} (line {numbered[i][0]})",
        rows=[text for _, text in numbered],
    )


def _object(text: bytes, line: int, name: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = _DECODER.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        found = _with_huge_numbers(text)
        if not found:
            raise FileFormatError(f"{name} line {line}: not a JSON object: {error}") from error
    if len(_KEY_END.findall(text)) != len(found):
        _check_keys(text, line, name)
    return found


def _with_huge_numbers(text: bytes) -> dict[str, Any]:
    """An object whose values stay text where a number in them is too large; empty where that is not what is wrong."""
    try:
        json.loads(text, parse_constant=_refused)
        return {key: _value(raw) for key, raw in _RAW.decode(text).items()}
    except (ValueError, RecursionError, msgspec.MsgspecError):
        return {}


def _value(raw: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except msgspec.MsgspecError:
        return bytes(raw).decode()


def _refused(constant: str) -> Any:
    raise ValueError(constant)


def _check_keys(text: bytes, line: int, name: str) -> None:
    """Checks that the outermost object names no field twice."""

    def checked(pairs: list[tuple[str, Any]]) -> list[str]:
        return [key for key, _ in pairs]

    keys = json.loads(text, object_pairs_hook=checked)
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise FileFormatError(f"{name} line {line}: field {twice[0]!r} is there twice")


class Writer:
    """Appends batches and their answers to a new file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> Writer:
        self._file = self._path.open("xb")
        return self

    def write(self, batch: Batch, answers: Mapping[str, Cells]) -> None:
        """One object a row. Values of JSON lines keep their text; whole numbers in other text become numbers."""
        if isinstance(batch.rows, list):
            found = zip(map(_RAW.decode, batch.rows), records(answers), strict=True)
            self._write(join(given, result) for given, result in found)
        else:
            self._write(records(typed_columns(merge(batch, answers), answers["family"])))

    def _write(self, objects: Iterable[dict[str, Any]]) -> None:
        self._file.writelines(_ENCODER.encode(one) + b"\n" for one in objects)

    def __exit__(self, *_: Any) -> None:
        self._file.close()


def join(given: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    """A row with its results: what it holds stays, empty values of `FILLED` are filled in."""
    kept = {name: value for name, value in given.items() if name not in FILLED or not _is_blank(value)}
    return {**given, **result, **kept}


def _is_blank(value: Any) -> bool:
    return is_empty(msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value)
