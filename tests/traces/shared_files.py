"""Real files of other formats beside this checkout, and what plain SQL and sums over their text give."""

import json

from ..measurements.shared import shared


def real(name):
    """The file, or a skipped test."""
    return shared(f"traces/{name}")


def reference(part):
    """What was counted in that part, without any tool."""
    return json.loads(real("reference_other.json").read_text(encoding="utf-8"))[part]
