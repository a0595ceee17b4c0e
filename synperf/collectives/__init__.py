"""Collective operations: what a message between GPUs costs."""

from .call import OPERATIONS, Collective

__all__ = ["OPERATIONS", "Collective"]
