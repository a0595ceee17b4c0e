"""Task groups -> load per SM."""

from .groups import TaskGroups
from .load import Load, schedule
from .occupancy import Occupancies, Occupancy, occupancies, occupancy
from .placement import Placement

__all__ = ["Load", "Occupancies", "Occupancy", "Placement", "TaskGroups", "occupancies", "occupancy", "schedule"]
