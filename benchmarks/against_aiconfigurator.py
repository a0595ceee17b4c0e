"""How fast predictions are beside warm GEMM queries of aiconfigurator-core, in its own environment, on the same shapes.

python benchmarks/against_aiconfigurator.py [--aiconfigurator-python PATH] [--json]

PATH is the python of an environment with aiconfigurator-core 0.12.0. A query is that version's public way from a shape
to a time: an op, its JSON, `EngineHandle.evaluate_ops_json` of an engine made once. It takes one m, so a batch is a
loop. With OPENBLAS_NUM_THREADS=1 both sides run one thread. A busy machine inflates wall time more than CPU time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import time
from typing import Any

import numpy as np

import synperf
from synperf import Gemm

GPU, ENGINE, ORIGINS = "h200_sxm", "trtllm", ("learned", "analytical")
QUERIES, WARM_UP, MILLION, REPEATS = 20_000, 200, 1_000_000, 5
SMALLEST, LARGEST = (1, 32, 32), (32768, 65536, 65536)  # m, n, k of aiconfigurator's table for GPU and ENGINE in bf16
Figures = dict[str, Any]

THERE = """
import json, logging, statistics, sys, time
logging.disable(logging.WARNING)
from aiconfigurator_core.sdk.common import GEMMQuantMode
from aiconfigurator_core.sdk.engine import EngineHandle, build_ops_json
from aiconfigurator_core.sdk.operations.gemm import GEMM
from aiconfigurator_core.sdk.perf_database import get_database

gpu, backend, warm_up, shapes = json.load(sys.stdin)
engine = EngineHandle.for_database(get_database(gpu, backend, "current"))
calls_s, answers = [], []
for i, (m, n, k) in enumerate(shapes):
    if i == warm_up:
        cpu_s = time.process_time()
    start = time.perf_counter()
    ops = build_ops_json([GEMM("gemm", 1.0, n, k, GEMMQuantMode.bfloat16)])
    answer = engine.evaluate_ops_json(ops, is_context=True, batch_size=1, s=1, x=m)
    calls_s.append(time.perf_counter() - start)
    answers.append(answer[0])
cpu_s, calls_s = time.process_time() - cpu_s, calls_s[warm_up:]
print(json.dumps({
    "warm_call_s": statistics.median(calls_s),
    "batch_s": sum(calls_s),
    "batch_cpu_s": cpu_s,
    "from_table": sum(source == "silicon" for _, _, _, source in answers) / len(answers),
    "answers_s": [1e-3 * ms for _, ms, _, _ in answers],
}))
"""


def aiconfigurator(python: str, asked: np.ndarray) -> Figures:
    """What `THERE` measures in the other environment."""
    text = json.dumps([GPU, ENGINE, WARM_UP, asked.tolist()])
    ran = subprocess.run([python, "-c", THERE], input=text, stdout=subprocess.PIPE, text=True, check=True)
    found: Figures = json.loads(ran.stdout)
    return found


def predictions(origin: str, shapes: np.ndarray) -> Figures:
    """One call at a time, every shape new, from building the call to its estimate; then all shapes as arrays."""
    gpu, calls_s, walls_s, cpus_s = synperf.gpu(GPU), [], [], []
    for m, n, k in shapes[: WARM_UP + QUERIES].tolist():
        start = time.perf_counter()
        synperf.predict(Gemm(m=m, n=n, k=k, engine=ENGINE), gpu, origin=origin)
        calls_s.append(time.perf_counter() - start)
    m, n, k = (np.ascontiguousarray(x) for x in shapes.T)
    for _ in range(REPEATS):
        start, cpu = time.perf_counter(), time.process_time()
        estimate = synperf.predict(Gemm(m=m, n=n, k=k, engine=ENGINE), gpu, origin=origin)
        walls_s.append(time.perf_counter() - start)
        cpus_s.append(time.process_time() - cpu)
    return {
        "warm_call_s": statistics.median(calls_s[WARM_UP:]),
        "batch_s": statistics.median(walls_s),
        "batch_cpu_s": statistics.median(cpus_s),
        "answers_s": estimate.time_s[: WARM_UP + QUERIES],
    }


def compare(here: Figures, there: Figures) -> Figures:
    """Time there over time here, of batches per call; and answers here over answers there, the median."""
    each = MILLION / QUERIES
    return {
        "warm_call": there["warm_call_s"] / here["warm_call_s"],
        "batch": there["batch_s"] / here["batch_s"] * each,
        "batch_cpu": there["batch_cpu_s"] / here["batch_cpu_s"] * each,
        "answers": float(np.median(here["answers_s"] / np.array(there["answers_s"]))),
    }


def line(name: str, f: Figures, count: int) -> str:
    """One row of the table, without ratios."""
    wall, cpu = f["batch_s"] / count, f["batch_cpu_s"] / count
    return f"{name:15} {f['warm_call_s'] * 1e6:9.1f} {count:10,} {f['batch_s']:9.3f} {wall * 1e6:9.2f} {cpu * 1e6:9.2f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--aiconfigurator-python", metavar="PATH", help="python that has aiconfigurator-core")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    given = parser.parse_args()
    low, high = np.log(SMALLEST), np.log(LARGEST)
    shapes = np.exp(np.random.default_rng(0).uniform(low, high, (MILLION, 3))).astype(np.int64)
    python, there, skipped = given.aiconfigurator_python, None, []
    if python is None:
        skipped.append("aiconfigurator: skipped, --aiconfigurator-python names no environment that has it")
    else:
        there = aiconfigurator(python, shapes[: WARM_UP + QUERIES])
    here = {}
    for origin in ORIGINS:
        try:
            here[origin] = predictions(origin, shapes)
        except synperf.UnsupportedError as why:
            skipped.append(f"{origin}: skipped, {why}")
    ratios = {origin: compare(f, there) for origin, f in here.items()} if there else {}
    report({**({"aiconfigurator": there} if there else {}), **here}, ratios, skipped, given.json)


def report(figures: dict[str, Figures], ratios: dict[str, Figures], skipped: list[str], as_json: bool) -> None:
    """Print times, then how many times faster each origin is."""
    if as_json:
        times = {name: {key: f[key] for key in f if key != "answers_s"} for name, f in figures.items()}
        print(json.dumps({"figures": times, "ratios": ratios, "skipped": skipped}))
        return
    print(f"{'':15} {'call us':>9} {'batch':>10} {'wall s':>9} {'us each':>9} {'CPU us':>9}")
    for name, f in figures.items():
        print(line(name, f, QUERIES if name == "aiconfigurator" else MILLION))
    for origin, r in ratios.items():
        print(f"{origin}: {r['batch']:.1f} x as fast in a batch, {r['batch_cpu']:.1f} x by CPU time, ", end="")
        print(f"{r['warm_call']:.2f} x one by one; median of answers {r['answers']:.2f} x those of aiconfigurator")
    for sentence in skipped:
        print(sentence)


if __name__ == "__main__":
    main()
