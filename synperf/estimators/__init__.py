"""Features -> time and interval."""

from . import analytical
from .estimate import Estimate

__all__ = ["Estimate", "analytical"]
