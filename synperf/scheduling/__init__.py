"""Task groups -> load per SM.

What places tasks is imported when it is first used: whoever asks for occupancy alone starts sooner.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .occupancy import Occupancies, Occupancy, occupancies, occupancy

if TYPE_CHECKING:
    from .groups import TaskGroups
    from .load import Load, schedule
    from .placement import Placement

__all__ = ["Load", "Occupancies", "Occupancy", "Placement", "TaskGroups", "occupancies", "occupancy", "schedule"]
_HOMES = {"TaskGroups": "groups", "Load": "load", "schedule": "load", "Placement": "placement"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = found
    return found
