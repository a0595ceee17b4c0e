"""Predictions beside measurements."""

from .comparison import compare
from .evaluate import Report, Score, evaluate
from .metrics import Errors
from .results import Comparison, Mean, Result, Settings
from .selection import Selection
from .splits import SPLITS, selection

__all__ = [
    "SPLITS",
    "Comparison",
    "Errors",
    "Mean",
    "Report",
    "Result",
    "Score",
    "Selection",
    "Settings",
    "compare",
    "evaluate",
    "selection",
]
