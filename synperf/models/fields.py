"""Fields of a config.json, read by the names that Llama and Qwen give them.

An architecture may spell a name otherwise, and has values for what a file leaves out. What is needed and not there is
remembered, so that one message names all of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import FieldError

MOST = 2**31 - 1
_MISSING = 1  # stands in until all fields that are missing are known


class Fields:
    """The values of one config.json; `where` is how messages call it."""

    def __init__(self, values: Mapping[str, Any], names: Mapping[str, str], defaults: Mapping[str, Any], where: str):
        self.where = where
        self.missing: list[str] = []
        self._values, self._names, self._defaults = values, names, defaults

    def get(self, name: str) -> Any:
        """The value of a field, or what the architecture has where the file says none; None where neither does."""
        value = self._values.get(self._names.get(name, name))
        return self._defaults.get(name) if value is None else value

    def spelled(self, name: str) -> str:
        """The name of a field as the architecture spells it."""
        return self._names.get(name, name)

    def whole(self, name: str, otherwise: int | None = None, least: int = 1, most: int = MOST) -> int:
        """A whole number; `otherwise` where there is none. Without it the field is missing.

        Raises:
            FieldError: it is no whole number from `least` to `most`.
        """
        value = self.get(name)
        if value is None and otherwise is not None:
            return otherwise
        if value is None:
            self.missing.append(self.spelled(name))
            return _MISSING
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most or value % 1:
            raise self.wrong(name, f"a whole number from {least} to {most}")
        return int(value)

    def ratio(self, name: str, otherwise: float) -> float:
        """A number from 0 to 1.

        Raises:
            FieldError: it is none.
        """
        value = otherwise if self.get(name) is None else self.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise self.wrong(name, "a number from 0 to 1")
        return float(value)

    def truth(self, name: str) -> bool:
        """True or false; false where there is none.

        Raises:
            FieldError: it is neither.
        """
        value = self.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return bool(value)

    def text(self, name: str) -> str:
        """A word; empty where there is none.

        Raises:
            FieldError: it is none.
        """
        value = self.get(name)
        if value is not None and not isinstance(value, str):
            raise self.wrong(name, "a word")
        return value or ""

    def items(self, name: str) -> list[Any]:
        """A list; empty where there is none.

        Raises:
            FieldError: it is none.
        """
        value = self.get(name)
        if value is not None and not isinstance(value, list):
            raise self.wrong(name, "a list")
        return value or []

    def wrong(self, name: str, right: str) -> FieldError:
        """The error of a field whose value is not what it should be."""
        return FieldError(f"{self.where}: {self.spelled(name)} must be {right}, got {str(self.get(name))[:60]!r}")

    def require(self, architecture: str) -> None:
        """Checks that nothing is missing.

        Raises:
            FieldError: the message names the architecture and all of what is.
        """
        if self.missing:
            lacks = ", ".join(dict.fromkeys(self.missing))
            raise FieldError(f"{self.where}: {architecture} needs fields that are not there: {lacks}")
