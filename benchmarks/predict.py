"""How fast one prediction, a million and a cold process are. Prints medians, and ratios against baselines here.

python benchmarks/predict.py [--json]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import synperf
from synperf import Gemm
from synperf.features import roofline
from synperf.kernels import family

MILLION = 1_000_000
ROUNDS, CALLS = 10, 1000  # of single calls, after one round that warms up
BUDGETS = {"analytical": (60, 2), "learned": (100, 3)}  # of one warm call in microseconds, of a million in seconds
KEPT = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}  # as an installed one runs


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Median of `repeats` runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def shapes(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log-uniform m, n, k, so that small, split and large problems all occur."""
    rng = np.random.default_rng(0)
    m, n, k = (np.exp(rng.uniform(0, np.log(32768), count)).astype(np.int64) + 1 for _ in range(3))
    return m, n, k


def warm_call_s(gpu: synperf.GPU, origin: str) -> float:
    """One call at a time, every shape new, from building the call to its estimate.

    The median of the best of `ROUNDS` rounds: what else a machine does can only add to a time.
    """
    m, n, k = (x.tolist() for x in shapes((ROUNDS + 1) * CALLS))
    times = []
    for i in range(len(m)):
        start = time.perf_counter()
        synperf.predict(Gemm(m=m[i], n=n[i], k=k[i]), gpu, origin=origin)
        times.append(time.perf_counter() - start)
    return min(statistics.median(times[i : i + CALLS]) for i in range(CALLS, len(times), CALLS))


def roofline_million(gpu: synperf.GPU, m: np.ndarray, n: np.ndarray, k: np.ndarray) -> np.ndarray:
    """The least that any predictor does: FLOP over peak, bytes over bandwidth."""
    kind, call = family("gemm"), Gemm(m=m, n=n, k=k)
    return np.asarray(roofline(gpu, call.dtype, kind.flop(call), kind.compulsory_bytes(call)))


def main() -> None:
    """Measure and print."""
    gpu = synperf.gpu("h100_sxm")
    m, n, k = shapes(MILLION)
    empty = seconds(lambda: subprocess.run([sys.executable, "-c", "import numpy"], check=True, env=KEPT), 7)
    call = ["gemm", "m=4096", "n=4096", "k=4096", "--gpu", "h100_sxm", "--json"]
    command = [sys.executable, "-m", "synperf", "predict", *call]
    figures = {
        "million_roofline_s": seconds(lambda: roofline_million(gpu, m, n, k), 5),
        "cold_process_s": seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=KEPT), 7),
        "cold_import_numpy_s": empty,
    }
    for origin in BUDGETS:
        figures[f"{origin}_warm_call_s"] = warm_call_s(gpu, origin)
        figures[f"{origin}_million_s"] = seconds(partial(synperf.predict, Gemm(m=m, n=n, k=k), gpu, origin=origin), 3)
    if "--json" in sys.argv:
        print(json.dumps(figures))
        return
    for origin, (call_us, million_s) in BUDGETS.items():
        one, million = figures[f"{origin}_warm_call_s"], figures[f"{origin}_million_s"]
        ratio = million / figures["million_roofline_s"]
        print(f"{origin:10} one warm call         {one * 1e6:8.1f} us   budget {call_us} us")
        print(
            f"{origin:10} a million from arrays {million:8.3f} s    budget {million_s} s; {ratio:.1f} x a bare roofline"
        )
    cold = figures["cold_process_s"]
    print(f"cold process, one answer         {cold:8.3f} s    budget 0.3 s; {cold / empty:.1f} x `import numpy`")


if __name__ == "__main__":
    main()
