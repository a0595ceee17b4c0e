"""Predictions beside measurements."""

from .evaluate import Report, Score, evaluate
from .metrics import Errors

__all__ = ["Errors", "Report", "Score", "evaluate"]
