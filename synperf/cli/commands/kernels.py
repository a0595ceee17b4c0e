"""List the kernel families: their fields with defaults, and the kernels that each engine runs."""

from __future__ import annotations

from ... import kernels as families
from ...report import kernels as report
from ..arguments import AsJson
from ..show import show


def kernels(as_json: AsJson = False) -> None:
    known = families.families().values()
    show(as_json, lambda: [report.to_dict(kind) for kind in known], lambda: "\n\n".join(map(report.to_text, known)))
