"""Tables of calls in, the same tables with estimates out: in memory and in files."""

from .files import predict_file
from .grouping import Plan
from .memory import is_table, predict_table

__all__ = ["Plan", "is_table", "predict_file", "predict_table"]
