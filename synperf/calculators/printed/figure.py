"""One exact number with its unit."""

from __future__ import annotations

from typing import NamedTuple


class Exact(NamedTuple):
    """`unit` is s, B, share (written as percent), x (times), or what is counted; a name has none."""

    value: float | str
    unit: str = ""
