"""Task groups -> load per SM."""

from .groups import TaskGroups
from .load import Load, schedule
from .occupancy import Occupancy, occupancy
from .placement import Placement

__all__ = ["Load", "Occupancy", "Placement", "TaskGroups", "occupancy", "schedule"]
