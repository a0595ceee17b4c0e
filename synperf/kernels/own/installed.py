"""Families that installed packages offer: entry points of one group, each a module like a file of one's own.

In the package's pyproject.toml: [project.entry-points."synperf.families"], then my_kernel = "my_package.module".
"""

from __future__ import annotations

from importlib.metadata import entry_points
from importlib.util import find_spec
from types import ModuleType

from ...errors import PluginError
from ..base import KernelFamily
from .family import family_of
from .source import RIGHT, of_module, shown, telling

GROUP = "synperf.families"


def names() -> tuple[str, ...]:
    """Names of the entry points."""
    return tuple(point.name for point in entry_points(group=GROUP))


def read(name: str) -> tuple[KernelFamily, str]:
    """The family of an entry point, and where it is from.

    Raises:
        PluginError: its module cannot be imported, or is not what it should be.
    """
    point = next(point for point in entry_points(group=GROUP) if point.name == name)
    with telling(point.value, 1):
        spec = find_spec(point.module)
    with telling(point.value if spec is None or spec.origin is None else spec.origin, 1):
        module = point.load()
    if not isinstance(module, ModuleType):
        raise PluginError(f"{point.value}: the entry point {name} is {shown(module)}, no module; {RIGHT}")
    source = of_module(module)
    return family_of(source, name), source.path
