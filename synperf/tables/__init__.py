"""Tables of calls in, the same tables with estimates out: in memory and in files.

Every name is imported when it is first used, since files that are written whole (`outfile`) need no estimates.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .files import predict_file
    from .grouping import Plan
    from .memory import is_table, predict_table

__all__ = ["Plan", "is_table", "predict_file", "predict_table"]
_HOMES = {"predict_file": "files", "Plan": "grouping", "is_table": "memory", "predict_table": "memory"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
