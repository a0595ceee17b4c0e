"""The result of a command on standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..report.jsonout import to_json


def show(as_json: bool, document: Callable[[], Any], text: Callable[[], str]) -> None:
    """Prints one JSON document, or text."""
    print(text_of(as_json, document, text))


def text_of(as_json: bool, document: Callable[[], Any], text: Callable[[], str]) -> str:
    """One JSON document, or text; what is not asked for is not made."""
    return to_json(document()) if as_json else text()


def notice(line: str) -> None:
    """One line on standard error: what was done, beside a result that is a file."""
    print(f"synperf: {line}", file=sys.stderr)
