"""Measured rows, from every source in one schema."""

from .schema import Rows

__all__ = ["Rows"]
