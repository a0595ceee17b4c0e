"""What a comparison has found so far, in a file that is whole after every step and that a later run goes on from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from ..errors import FieldError, FileFormatError
from ..tables.outfile import replacing, require_place, write_text
from .results import Comparison, Result, Settings


class State:
    """Results by case and recipe; each is made once."""

    def __init__(self, path: Path | None, settings: Settings, *, resume: bool) -> None:
        """Takes up what the file holds, where there is one and it is to be resumed.

        Raises:
            FileFormatError: the file is not a comparison.
            FieldError: it was made with other settings, or is no place for a file.
        """
        if path is not None:
            require_place("out", path)
        self.path, self.settings = path, settings
        self.found: list[Result] = _taken_up(path, settings) if path is not None and resume and path.exists() else []

    def keep(self, case: str, recipe: str, make: Callable[[], Sequence[Result]]) -> None:
        """The results of a recipe in a case, made where they are not there, and written."""
        if any((r.case, r.recipe) == (case, recipe) for r in self.found):
            return
        self.found += make()
        if self.path is not None:
            document = msgspec.json.format(msgspec.json.encode(self._all()), indent=2).decode() + "\n"
            with replacing("out", self.path) as part:
                write_text(part, document)

    def comparison(self, cases: Sequence[str], recipes: Sequence[str]) -> Comparison:
        """The results of these cases and recipes, in this order."""
        found = [r for case in cases for name in recipes for r in self.found if (r.case, r.recipe) == (case, name)]
        return Comparison(settings=self.settings, results=tuple(found))

    def _all(self) -> Comparison:
        return Comparison(settings=self.settings, results=tuple(self.found))


def read(path: Path) -> Comparison:
    """The comparison in a file.

    Raises:
        FileFormatError: the file is none.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Comparison)
    except OSError as wrong:
        raise FileFormatError(f"{path}: {wrong.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as wrong:
        raise FileFormatError(f"{path}: not the results of a comparison ({wrong})") from None


def _taken_up(path: Path, settings: Settings) -> list[Result]:
    found = read(path)
    difference = settings.difference(found.settings)
    if difference:
        raise FieldError(f"resume: {path} has other settings: {difference}; name another --out, or leave out --resume")
    return list(found.results)
