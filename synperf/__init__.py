"""How long GPU work takes and why: `gpu`, `predict`, `explain`, and one class per kernel family."""

from typing import Any

from .api import explain, parse_call, predict, predict_file, tile_profile
from .errors import FieldError, FileFormatError, PerfError, UnknownNameError, UnsupportedError
from .estimators import Estimate
from .hardware import GPU, DType, gpu, gpus, what_if
from .kernels.gemm_call import Gemm
from .version import VERSION as __version__

__all__ = [
    "GPU",
    "DType",
    "Estimate",
    "FieldError",
    "FileFormatError",
    "Gemm",
    "PerfError",
    "UnknownNameError",
    "UnsupportedError",
    "__version__",
    "explain",
    "gpu",
    "gpus",
    "parse_call",
    "predict",
    "predict_file",
    "tile_profile",
    "what_if",
]


def __getattr__(name: str) -> Any:
    """`evaluate` on first use: what it needs is slow to import beside one prediction."""
    if name == "evaluate":
        from .evaluation import evaluate

        return evaluate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
