"""Models: a config.json of Hugging Face, by path or by a name of the catalog, and what follows from it."""

from .batch import Batch, Requests, decode, prefill
from .call_list import Entry
from .calls import calls
from .catalog import names
from .description import Model
from .floor import pass_bytes, pass_flop
from .memory import kv_bytes_per_token, kv_bytes_per_token_per_gpu, request_bytes, weights_bytes
from .parameters import active_parameters, flop_per_token, linear_parameters, parameters
from .plan import Plan
from .read import model
from .sharding import assumptions, check, stages

__all__ = [
    "Batch",
    "Entry",
    "Model",
    "Plan",
    "Requests",
    "active_parameters",
    "assumptions",
    "calls",
    "check",
    "decode",
    "flop_per_token",
    "kv_bytes_per_token",
    "kv_bytes_per_token_per_gpu",
    "linear_parameters",
    "model",
    "names",
    "parameters",
    "pass_bytes",
    "pass_flop",
    "prefill",
    "request_bytes",
    "stages",
    "weights_bytes",
]
