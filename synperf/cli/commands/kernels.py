"""List the kernel families: their fields with defaults, and the kernels that each engine runs.

Installed packages may offer others, as entry points of the group synperf.families.
"""

from __future__ import annotations

from ... import kernels as families
from ...errors import PluginError
from ...kernels import KernelFamily
from ...report import kernels as report
from ..arguments import AsJson
from ..show import notice, show


def kernels(as_json: AsJson = False) -> None:
    known = [*families.families().values(), *filter(None, map(_installed, families.installed()))]
    show(as_json, lambda: [report.to_dict(kind) for kind in known], lambda: "\n\n".join(map(report.to_text, known)))


def _installed(name: str) -> KernelFamily | None:
    """A family that an installed package offers; what is wrong with one is said, and hides no other."""
    try:
        return families.family(name)
    except PluginError as wrong:
        notice(str(wrong))
        return None
