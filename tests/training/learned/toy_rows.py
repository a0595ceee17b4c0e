"""Rows that follow a law: the base time of the network times a factor of the GPU and the engine."""

from __future__ import annotations

from functools import cache

import numpy as np

from synperf import hardware
from synperf.estimators.inputs import base, sustained
from synperf.features import features
from synperf.kernels import family
from synperf.kernels.gemm_call import Gemm
from synperf.measurements import Rows

FACTORS = {("h100_sxm", "vllm"): 1.2, ("h100_sxm", "sglang"): 1.5, ("l40s", "vllm"): 2.0, ("l40s", "sglang"): 2.5}
SIZE = 200


@cache
def rows() -> Rows:
    """200 shapes on two GPUs under two engines; every fifth shape is a test row."""
    return Rows.join([_part(gpu, engine, factor) for (gpu, engine), factor in FACTORS.items()])


def _part(key: str, engine: str, factor: float) -> Rows:
    draw, gpu = np.random.default_rng(5), hardware.gpu(key)
    m = 2.0 ** draw.integers(0, 13, SIZE)
    n, k = (2.0 ** draw.integers(5, 14, SIZE) for _ in range(2))
    call = Gemm(m=m, n=n, k=k, engine=engine, kernel="cublas")
    rates = sustained(gpu, "gemm", "cublas", call.dtype)
    time_s = factor * base(features(family("gemm"), call, gpu), gpu, call.dtype, rates)[0]
    text = {"gpu": key, "family": "gemm", "engine": engine, "version": "1", "kernel": "cublas", "kernel_source": "x"}
    columns = {name: np.full(SIZE, value, dtype=object) for name, value in (text | {"source": "toy"}).items()}
    fields = {"m": m, "n": n, "k": k, "batch": np.ones(SIZE), "dtype": np.full(SIZE, "bf16", dtype=object)}
    return Rows(
        fields=fields, time_s=time_s, spread=np.zeros(SIZE), samples=np.ones(SIZE, dtype=np.int64),
        is_test=np.arange(SIZE) % 5 == 0, biased=np.zeros(SIZE, dtype=bool), **columns,
    )  # fmt: skip
