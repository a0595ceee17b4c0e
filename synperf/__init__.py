"""How long GPU work takes and why: `gpu`, `predict`, `explain`, and one class per kernel family.

Every name is imported when it is first used, so that a command that needs few of them starts, and stops, at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import VERSION as __version__

if TYPE_CHECKING:
    from . import hardware, models
    from .analysis import Analysis, analyze
    from .analysis.compare import Comparison, compare
    from .api import estimate, explain, parse_call, predict, predict_file, tile_profile
    from .collectives import Collective
    from .errors import FieldError, FileFormatError, PerfError, PluginError, UnknownNameError, UnsupportedError
    from .estimators import Estimate
    from .hardware import GPU, DType, gpu, gpus, what_if
    from .kernels import load_family
    from .kernels.attention_call import Attention
    from .kernels.conv_call import Conv
    from .kernels.copy import Copy
    from .kernels.elementwise import Elementwise
    from .kernels.embedding import Embedding
    from .kernels.gelu_mul import GeluMul
    from .kernels.gemm_call import Gemm
    from .kernels.grouped_gemm_call import GroupedGemm
    from .kernels.kv_append import KvAppend
    from .kernels.layernorm import LayerNorm
    from .kernels.linear_attention_call import LinearAttention
    from .kernels.mla_call import Mla
    from .kernels.moe_call import FusedMoe
    from .kernels.quantize import Quantize
    from .kernels.reduction import Reduction
    from .kernels.rmsnorm import RmsNorm
    from .kernels.rope import Rope
    from .kernels.sampling import Sampling
    from .kernels.silu_mul import SiluMul
    from .kernels.softmax import Softmax
    from .kernels.sparse_attention_call import SparseAttention
    from .kernels.transpose import Transpose
    from .models import Model, Plan, model
    from .serving.answer import Forecast
    from .serving.workload import ClosedLoop, OpenLoop, RequestTrace, StaticBatch
    from .traces import read_trace
    from .traces.events import Trace
    from .traces.records import read_records

__all__ = [
    "GPU",
    "Analysis",
    "Attention",
    "ClosedLoop",
    "Collective",
    "Comparison",
    "Conv",
    "Copy",
    "DType",
    "Elementwise",
    "Embedding",
    "Estimate",
    "FieldError",
    "FileFormatError",
    "Forecast",
    "FusedMoe",
    "GeluMul",
    "Gemm",
    "GroupedGemm",
    "KvAppend",
    "LayerNorm",
    "LinearAttention",
    "Mla",
    "Model",
    "OpenLoop",
    "PerfError",
    "Plan",
    "PluginError",
    "Quantize",
    "Reduction",
    "RequestTrace",
    "RmsNorm",
    "Rope",
    "Sampling",
    "SiluMul",
    "Softmax",
    "SparseAttention",
    "StaticBatch",
    "Trace",
    "Transpose",
    "UnknownNameError",
    "UnsupportedError",
    "__version__",
    "analyze",
    "compare",
    "estimate",
    "explain",
    "gpu",
    "gpus",
    "hardware",
    "load_family",
    "model",
    "models",
    "parse_call",
    "predict",
    "predict_file",
    "read_records",
    "read_trace",
    "tile_profile",
    "what_if",
]
_HOMES = {
    "analysis": ("Analysis", "analyze"),
    "analysis.compare": ("Comparison", "compare"),
    "api": ("estimate", "explain", "parse_call", "predict", "predict_file", "tile_profile"),
    "errors": ("FieldError", "FileFormatError", "PerfError", "PluginError", "UnknownNameError", "UnsupportedError"),
    "collectives": ("Collective",),
    "estimators": ("Estimate",),
    "evaluation": ("evaluate",),
    "hardware": ("GPU", "DType", "gpu", "gpus", "what_if"),
    "kernels": ("load_family",),
    "kernels.attention_call": ("Attention",),
    "kernels.gemm_call": ("Gemm",),
    "kernels.grouped_gemm_call": ("GroupedGemm",),
    "kernels.linear_attention_call": ("LinearAttention",),
    "kernels.mla_call": ("Mla",),
    "kernels.moe_call": ("FusedMoe",),
    "kernels.conv_call": ("Conv",),
    "kernels.copy": ("Copy",),
    "kernels.elementwise": ("Elementwise",),
    "kernels.embedding": ("Embedding",),
    "kernels.gelu_mul": ("GeluMul",),
    "kernels.kv_append": ("KvAppend",),
    "kernels.layernorm": ("LayerNorm",),
    "kernels.quantize": ("Quantize",),
    "kernels.reduction": ("Reduction",),
    "kernels.rmsnorm": ("RmsNorm",),
    "kernels.rope": ("Rope",),
    "kernels.sampling": ("Sampling",),
    "kernels.silu_mul": ("SiluMul",),
    "kernels.softmax": ("Softmax",),
    "kernels.sparse_attention_call": ("SparseAttention",),
    "kernels.transpose": ("Transpose",),
    "models": ("Model", "Plan", "model"),
    "serving.answer": ("Forecast",),
    "serving.workload": ("ClosedLoop", "OpenLoop", "RequestTrace", "StaticBatch"),
    "traces": ("read_trace",),
    "traces.events": ("Trace",),
    "traces.records": ("read_records",),
}
_ROOMS = ("hardware", "models")
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
