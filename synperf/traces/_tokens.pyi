"""Columns of what stands in JSON: `tokens.c` says more."""

from array import array
from typing import Any

class Scanner:
    """Collects the values of keys of objects, text by text."""

    rows: int

    def __init__(
        self,
        outer: tuple[bytes, ...],
        inner: tuple[bytes, ...],
        types: bytes,
        missing: array[int],
        digits: int,
        args: bytes,
        /,
    ) -> None: ...
    def add(self, text: bytes | memoryview, /) -> tuple[int, bool] | None: ...
    def taken(self) -> tuple[int, tuple[Any, ...]]: ...
    def values(self, key: int, /) -> tuple[bytes, ...]: ...

def renumbered(codes: Any, values: int, /) -> tuple[bytes, bytes]: ...
