"""How fast estimates of a model under a load are, beside aiconfigurator-core's on the same questions.

python benchmarks/estimate.py [--aiconfigurator-python PATH] [--json]

PATH is the python of an environment with aiconfigurator-core 0.12.0; without it only this side is timed. Questions: a
cold process that answers one static batch; a warm static batch, each of another size; 10,000 static batches of one
model over 25 plans; a load of 256 clients. There the last is aiconfigurator's aggregated estimate, which is a steady
state and no simulation. With OPENBLAS_NUM_THREADS=1 both sides run one thread; CPU seconds stand beside wall time,
which a busy machine inflates more.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

MODEL, GPU, ENGINE = "Qwen/Qwen3-32B", "h200_sxm", "trtllm"
TP, ISL, OSL = 2, 4096, 512
BATCHES = tuple(range(1, 33))
CLIENTS, CLIENT_LENGTHS = 256, (1024, 1024)
PLANS, LOADS = 25, 400
Figures = dict[str, Any]
_UNWRITTEN = "PYTHONDONTWRITEBYTECODE"  # with it processes compile all modules anew, which installed ones do not
KEPT = {name: value for name, value in os.environ.items() if name != _UNWRITTEN}

COLD_HERE = f"""
import synperf
from synperf import Plan, StaticBatch
synperf.estimate({MODEL!r}, Plan(tp={TP}, engine={ENGINE!r}), StaticBatch.alike(8, {ISL}, {OSL}), {GPU!r})
"""
COLD_THERE = """
import json, logging, sys, time
logging.disable(logging.WARNING)
from aiconfigurator_core.sdk import common, config
from aiconfigurator_core.sdk.backends.factory import get_backend
from aiconfigurator_core.sdk.models import get_model
from aiconfigurator_core.sdk.perf_database import get_database

name, gpu, engine, tp, isl, osl = json.loads(sys.argv[1])
database, backend = get_database(gpu, engine, "current"), get_backend(engine)



def asked(tp):
    return get_model(name, config.ModelConfig(tp_size=tp, gemm_quant_mode=common.GEMMQuantMode.bfloat16,
        kvcache_quant_mode=common.KVCacheQuantMode.bfloat16, fmha_quant_mode=common.FMHAQuantMode.bfloat16), engine)

def static(model, batch, isl=isl, osl=osl):
    load = config.RuntimeConfig(batch_size=batch, beam_width=1, isl=isl, osl=osl)
    return backend.run_static(model, database, load, "static")

model = asked(tp)
static(model, 8)
"""
WARM_THERE = (
    COLD_THERE
    + """
batches, (clients, lengths), (plans, loads) = json.loads(sys.argv[2])

def timed(work):
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu

warm = [timed(lambda: static(model, batch, isl + 1)) for batch in batches]
some = timed(lambda: [static(asked((1, 2, 4, 8)[i % 4]), 1 + i % 64, 1024 + i) for i in range(50)])
load = config.RuntimeConfig(batch_size=clients, beam_width=1, isl=lengths[0], osl=lengths[1])
agg = timed(lambda: backend.run_agg(model, database, load, ctx_tokens=8192))
print(json.dumps({"static": sorted(warm)[len(warm) // 2], "plans": [one * plans * loads / 50 for one in some],
                  "clients": agg}))
"""
)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def cold(python: str, program: str, *arguments: str) -> tuple[float, float]:
    """Wall seconds of a process, the least of five, and their median."""
    walls = [
        timed(lambda: subprocess.run([python, "-c", program, *arguments], check=True, capture_output=True, env=KEPT))[0]
        for _ in range(5)
    ]
    return min(walls), statistics.median(walls)


def here() -> Figures:
    """What this side takes."""
    import synperf
    from synperf import ClosedLoop, Plan, StaticBatch

    gpu, model, plan = synperf.gpu(GPU), synperf.model(MODEL), Plan(tp=TP, engine=ENGINE)
    synperf.estimate(model, plan, StaticBatch.alike(8, ISL, OSL), gpu)
    warm = [
        timed(lambda n=n: synperf.estimate(model, plan, StaticBatch.alike(n, ISL + 1, OSL), gpu))  # type: ignore[misc]
        for n in BATCHES
    ]
    clients = ClosedLoop(concurrency=CLIENTS, isl=CLIENT_LENGTHS[0], osl=CLIENT_LENGTHS[1])
    synperf.estimate(model, plan, clients, gpu)
    loads = min(timed(lambda: synperf.estimate(model, plan, clients, gpu)) for _ in range(5))
    return {"static": sorted(warm)[len(warm) // 2], "clients": loads, "plans": min(timed(many) for _ in range(3))}


def many() -> None:
    """10,000 static batches: plans one after another, the loads of each as columns."""
    import synperf
    from synperf import Plan
    from synperf.serving.static import static
    from synperf.serving.static_load import Uniform

    gpu, model = synperf.gpu(GPU), synperf.model(MODEL)
    rng = np.random.default_rng(0)
    load = Uniform(
        batch=rng.integers(1, 65, LOADS), isl=rng.integers(128, 8192, LOADS), osl=rng.integers(2, 1024, LOADS)
    )
    plans = product((1, 2, 4, 8), ("bf16", "fp8"), (1, 2, 4), ("vllm", "trtllm"))
    for tp, dtype, pp, engine in list(plans)[:PLANS]:
        found = static(model, Plan(tp=tp, pp=pp, dtype=synperf.DType(dtype), engine=engine), gpu, load)
        assert len(found.total_s) == LOADS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--aiconfigurator-python", metavar="PATH")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = {"synperf": here() | {"cold": cold(sys.executable, COLD_HERE)}}
    if given.aiconfigurator_python:
        question = json.dumps([MODEL, GPU, ENGINE, TP, ISL, OSL])
        more = json.dumps([BATCHES, (CLIENTS, CLIENT_LENGTHS), (PLANS, LOADS)])
        python = given.aiconfigurator_python
        ran = subprocess.run([python, "-c", WARM_THERE, question, more], check=True, capture_output=True, text=True)
        found["aiconfigurator"] = json.loads(ran.stdout) | {"cold": cold(python, COLD_THERE, question)}
    if given.json:
        print(json.dumps(found))
        return
    names = {"cold": "cold process, wall s, least and median of 5", "static": "warm static batch, wall and CPU s",
             "plans": f"{PLANS * LOADS:,} static batches, wall and CPU s",
             "clients": f"{CLIENTS} clients, wall and CPU s"}  # fmt: skip
    for key, name in names.items():
        line = "  ".join(f"{side} {of[key][0]:.4g} {of[key][1]:.4g}" for side, of in found.items())
        ratio = ""
        if "aiconfigurator" in found:
            ratio = f"  ratio {found['aiconfigurator'][key][1] / found['synperf'][key][1]:.3g}"
        print(f"{name}: {line}{ratio}")


if __name__ == "__main__":
    main()
