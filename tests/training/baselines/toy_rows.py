"""Measured rows of toy GPUs whose times follow a law that the test chose."""

from dataclasses import replace

import numpy as np

from synperf.kernels.gemm import Gemm
from synperf.measurements import Rows

from ...toys import TOY

TWIN = replace(TOY, key="twin", num_sms=20, dram_bytes_per_s=2e12)  # twice the math and the bandwidth
DEVICES = {"toy": TOY, "twin": TWIN}
EXTENTS = [(m, n, k) for m in (1, 8, 64, 200, 512, 3000) for n in (64, 256, 1000) for k in (64, 512, 4096)]


def rows(law, extents=EXTENTS, gpu=TOY, engine="vllm", kernel="cublas"):
    """GEMMs in bf16 that take what `law(call, gpu)` says, or that many seconds."""
    m, n, k = (np.array(column, dtype=np.float64) for column in zip(*extents, strict=True))
    call, size = Gemm(m=m, n=n, k=k, engine=engine, kernel=kernel), len(m)
    label = {"gpu": gpu.key, "family": "gemm", "engine": engine, "version": "1", "kernel": kernel, "source": "f"}
    return Rows(
        fields={"m": m, "n": n, "k": k, "batch": np.ones(size), "dtype": np.full(size, "bf16", dtype=object)},
        time_s=np.broadcast_to(law(call, gpu) if callable(law) else law, size).astype(np.float64),
        spread=np.zeros(size),
        samples=np.ones(size, dtype=np.int64),
        is_test=np.zeros(size, dtype=bool),
        kernel_source=np.full(size, "x", dtype=object),
        **{name: np.full(size, value, dtype=object) for name, value in label.items()},
    )
