"""Real files of profilers, where the checkout has them beside it, and what was counted in them independently."""

import json
import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("SYNPERF_TRACES", Path(__file__).parents[2] / "shared/data/traces"))


def real(name: str) -> Path:
    """The file; skips the test where it is absent."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"{name} is not here: set SYNPERF_TRACES to the folder of real traces")
    return path


def reference(part: str) -> dict:
    """What was counted of that part by plain SQL and sums, without any tool."""
    return json.loads(real("reference_other.json").read_text())[part]
