"""How fast static batches are: one warm estimate, and ten thousand of one model. Prints seconds.

python benchmarks/static.py
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from synperf import GPU, hardware
from synperf.models import Model, Plan, model
from synperf.serving.static import static
from synperf.serving.static_load import Listed, Uniform

ROUNDS, LOADS = 20, 400
PLANS = [(tp, pp, engine, dtype) for tp in (1, 2, 4, 8) for pp in (1, 2) for engine, dtype in (
    ("vllm", "bf16"), ("vllm", "fp8"), ("sglang", "bf16"),
)] + [(8, 4, "vllm", "bf16")]  # fmt: skip


def seconds(work: Callable[[], object]) -> float:
    """Of one run."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def warm_s(described: Model, load: Uniform | Listed) -> float:
    """The median of estimates after a first one."""
    gpu, plan = hardware.gpu("h100_sxm"), Plan(tp=2, engine="vllm")
    times = [seconds(partial(_total_s, described, plan, gpu, load)) for _ in range(ROUNDS + 1)]
    return statistics.median(times[1:])


def many_s(described: Model) -> float:
    """Every plan with all loads at once."""
    draw, gpu = np.random.default_rng(0), hardware.gpu("h100_sxm")
    load = Uniform(
        batch=draw.integers(1, 257, LOADS), isl=draw.integers(128, 8192, LOADS), osl=draw.integers(16, 1024, LOADS)
    )
    plans = [Plan(tp=tp, pp=pp, engine=engine, dtype=dtype) for tp, pp, engine, dtype in PLANS]
    return sum(seconds(partial(_total_s, described, plan, gpu, load)) for plan in plans)


def _total_s(described: Model, plan: Plan, gpu: GPU, load: Uniform | Listed) -> object:
    return static(described, plan, gpu, load).total_s


def main() -> None:
    described = model("Qwen/Qwen3-32B")
    alike, own = Uniform(batch=16, isl=2000, osl=500), Listed(isl=list(range(1000, 3000, 125)), osl=500)
    print(f"one warm estimate, requests alike: {1e3 * warm_s(described, alike):.1f} ms (budget: 20 ms)")
    print(f"one warm estimate, lengths of their own: {1e3 * warm_s(described, own):.1f} ms")
    print(f"{len(PLANS)} plans of {LOADS} loads: {many_s(described):.1f} s on one core (budget: 10 s on two)")


if __name__ == "__main__":
    main()
