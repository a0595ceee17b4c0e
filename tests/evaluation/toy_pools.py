"""Measured rows of GPUs of the catalog whose times follow a law that the test chose, and recipes that need no torch."""

import numpy as np

from synperf import hardware
from synperf.features import roofline
from synperf.kernels import gemm
from synperf.kernels.gemm import Gemm
from synperf.measurements import Rows
from synperf.measurements.schema import is_gemm_test
from synperf.training.recipe import Recipe, by_launch

EXTENTS = [(m, n, k) for m in (1, 16, 300, 4096) for n in (256, 1000, 4096, 6000) for k in (512, 4096, 5000)]


def rows(gpu, factor=2.0, engine="vllm", extents=EXTENTS):
    """GEMMs in bf16 that take `factor` times the plain roofline; test rows as the published split has them."""
    m, n, k = (np.array(column, dtype=np.int64) for column in zip(*extents, strict=True))
    call, size = Gemm(m=m, n=n, k=k, engine=engine, kernel="cublas"), len(m)
    label = {"gpu": gpu, "family": "gemm", "engine": engine, "version": "1", "kernel": "cublas", "source": "f"}
    return Rows(
        fields={"m": m, "n": n, "k": k, "batch": np.ones(size, np.int64), "dtype": np.full(size, "bf16", object)},
        time_s=factor * roofline_s(call, hardware.gpu(gpu)),
        spread=np.zeros(size),
        samples=np.ones(size, dtype=np.int64),
        is_test=is_gemm_test(n, k),
        kernel_source=np.full(size, "x", dtype=object),
        **{name: np.full(size, value, dtype=object) for name, value in label.items()},
    )


def roofline_s(call, gpu):
    return roofline(gpu, call.dtype, gemm.flop(call), gemm.compulsory_bytes(call))


def identities(rows):
    """What tells measured rows apart."""
    columns = (rows.gpu, rows.engine, rows.kernel, rows.version, *rows.fields.values())
    return set(zip(*(column.tolist() for column in columns), strict=True))


class Spy:
    """A recipe that predicts the plain roofline and keeps what it was given."""

    def __init__(self, name="spy"):
        self.fitted, self.asked, self.devices = [], [], []
        self.recipe = Recipe(name=name, summary="", fit=self.fit)

    def fit(self, rows, devices, _seed):
        self.fitted.append(rows)
        self.devices.append(devices)
        return self.predict

    def predict(self, rows, devices):
        self.asked.append(rows)
        found = np.empty(len(rows))
        for index, call, gpu, _ in by_launch(rows, devices):
            found[index] = roofline_s(call, gpu)
        return found
