"""Columns of what stands in JSON: `tokens.c` says more."""

from array import array
from typing import Any

def scan(
    text: bytes | memoryview,
    outer: tuple[bytes, ...],
    inner: tuple[bytes, ...],
    types: bytes,
    missing: array[int],
    digits: int,
    args: bytes,
) -> tuple[int, bool, tuple[Any, ...]] | None: ...
def renumbered(codes: Any, values: int) -> tuple[bytes, bytes]: ...
