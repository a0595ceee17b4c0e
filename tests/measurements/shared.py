"""The measured files beside this checkout, which are not in it."""

from pathlib import Path

import pytest

DATA = Path(__file__).parents[2].parent / "shared" / "data"


def shared(name: str) -> Path:
    """A file of the shared data, or a skipped test."""
    path = DATA / name
    if not path.exists():
        pytest.skip("measured rows are not beside this checkout")
    return path
