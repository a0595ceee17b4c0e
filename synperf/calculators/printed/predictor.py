"""Claims of an article on the predictor: its network, its tables, its costs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ...evaluation.metrics import signed_error
from ..throughput import throughput
from .figure import Exact

HIDDEN = (256, 128, 64)  # layers of the paper's network: Linear, ReLU, BatchNorm, Dropout
_TOKENS, _REQUESTS, _PREFILL_S, _STEP_S = 122, 8, 3.3833, 0.023588  # Qwen2.5-14B on an A100, measured by the paper


def weights(inputs: int) -> int:
    """Weights of the paper's network: linear layers with bias, two for each value that a batch norm sees."""
    sizes = (inputs, *HIDDEN)
    layers = sum(wide * narrow + narrow + 2 * narrow for wide, narrow in pairwise(sizes))
    return layers + HIDDEN[-1] + 1


def network() -> dict[str, Exact]:
    """Of 11 and of 15 features."""
    return {f"weights for {one} features": Exact(float(weights(one))) for one in (11, 15)}


def tuning_gains() -> dict[str, Exact]:
    """What the printed before and after come to."""
    return {"efficiency": Exact(78 / 53 - 1, "share"), "throughput": Exact(1.9 / 1.2 - 1, "share")}


def prices() -> dict[str, Exact]:
    """Dollars an hour that the printed costs of a query imply: cost * 3600 / latency."""
    printed = {"H100": (0.000121, 0.085), "A100": (0.000152, 0.131), "RTX 6000 Ada": (0.000183, 0.142)}
    return {name: Exact(cost * 3600 / latency, "$ an hour") for name, (cost, latency) in printed.items()}


def cost_of_a_query(dollars_per_hour: float, latency_s: float) -> float:
    """Dollars of a query that has the GPU to itself: hourly * latency / 3600."""
    return dollars_per_hour * latency_s / 3600


def costs() -> dict[str, Exact]:
    """Of a query, at the prices that the print implies."""
    given = {"H100": (5.12, 0.085), "A100": (4.18, 0.131), "RTX 6000 Ada": (4.64, 0.142)}
    return {name: Exact(cost_of_a_query(*one), "$") for name, one in given.items()}


def latency_of_a_request() -> dict[str, Exact]:
    """Time to the first token and 121 steps, of eight requests at once, against the total that was measured."""
    found = throughput(
        requests=_REQUESTS, duration_s=6.2413, output_tokens=_REQUESTS * _TOKENS, mean_ttft_s=_PREFILL_S,
        mean_tpot_s=_STEP_S,
    )  # fmt: skip
    return {
        "total": Exact(found.mean_latency_s, "s"),
        "measured over it": Exact(6.2413 / found.mean_latency_s - 1, "share"),
    }


def errors() -> dict[str, Exact]:
    """Signed errors of three printed rows."""
    predicted, measured = np.array([131.0, 85.0, 79.0]), np.array([128.0, 89.0, 76.0])
    found = signed_error(predicted, measured)
    return {f"{m:g} and {p:g} ms": Exact(float(e), "share") for p, m, e in zip(predicted, measured, found, strict=True)}


def ratios() -> dict[str, Exact]:
    """Of printed errors, kernel by kernel."""
    return {
        "GEMM": Exact(42.6 / 5.2, "x"),
        "FlashAttention": Exact(45.1 / 6.8, "x"),
        "fused MoE": Exact(38.7 / 4.1, "x"),
    }


def growth() -> dict[str, Exact]:
    """From GPUs that were seen in training to others."""
    return {"kernels": Exact(11.4 / 6.1 - 1, "share"), "end to end": Exact(10.7 / 8.5 - 1, "share")}
