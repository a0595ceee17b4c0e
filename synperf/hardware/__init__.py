"""What a GPU can do."""

from .calibration import Calibration
from .dtype import DType
from .gpu import GPU

__all__ = ["GPU", "Calibration", "DType"]
