"""A result as a document without what was not asked for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any


def known(found: Any) -> dict[str, Any]:
    """The fields of a dataclass that have a value."""
    return {name: value for name, value in asdict(found).items() if value is not None}
