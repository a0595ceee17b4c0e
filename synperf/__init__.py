"""How long GPU work takes and why: `gpu`, `predict`, `explain`, and one class per kernel family."""

from .api import explain, parse_call, predict, tile_profile
from .errors import PerfError
from .estimators import Estimate
from .hardware import GPU, DType, gpu, gpus, what_if
from .kernels.gemm import Gemm
from .version import VERSION as __version__

__all__ = [
    "GPU",
    "DType",
    "Estimate",
    "Gemm",
    "PerfError",
    "__version__",
    "explain",
    "gpu",
    "gpus",
    "parse_call",
    "predict",
    "tile_profile",
    "what_if",
]
