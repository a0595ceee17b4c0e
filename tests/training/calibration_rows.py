"""Rows of made-up measurements: what the toy weights say of random shapes, times what is planted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from synperf import hardware
from synperf.estimators import learned
from synperf.hardware import GPU
from synperf.kernels import family
from synperf.measurements import Rows

from ..estimators.toy_weights import toy

WEIGHTS = toy()
H100 = hardware.gpu("h100_sxm")
SIZES = np.array([64, 128, 256, 512, 1024, 2048, 4096, 8192])


def blank(m, n, k, engine="vllm", gpu="h100_sxm", kernel="cublas", dtype="bf16"):
    """Rows of given shapes whose times are not yet there."""
    size = len(m)
    texts = {
        "gpu": gpu, "family": "gemm", "engine": engine, "version": "1", "kernel": kernel, "kernel_source": "x",
        "source": "rows.csv",
    }  # fmt: skip
    fields = {"m": m, "n": n, "k": k, "batch": np.ones(size), "dtype": np.full(size, dtype, dtype=object)}
    return Rows(
        fields={name: np.asarray(v) if name == "dtype" else np.asarray(v, dtype=float) for name, v in fields.items()},
        time_s=np.ones(size), spread=np.zeros(size), samples=np.ones(size, dtype=np.int64),
        is_test=np.zeros(size, dtype=bool), **{name: np.full(size, text, dtype=object) for name, text in texts.items()},
    )  # fmt: skip


def learned_s(rows: Rows, gpu: GPU = H100) -> np.ndarray:
    """What the toy weights say."""
    return learned.estimate(family("gemm"), rows.call(), gpu, WEIGHTS).time_s


def rows(size=100, seed=0, engine="vllm", factor=lambda _: 1.0, noise=0.0, gpu=H100):
    """Rows of random shapes, measured `factor` times as long as the toy weights say, with noise of the logarithm."""
    draw = np.random.default_rng(seed)
    found = blank(*(draw.choice(SIZES, size) for _ in "mnk"), engine=engine)
    time_s = learned_s(found, gpu) * factor(found) * np.exp(draw.normal(0, noise, size))
    return replace(found, time_s=time_s)


def error(time_s, measured_s):
    """Mean absolute relative error."""
    return float(np.abs(time_s / measured_s - 1).mean())
