"""Made-up serving points, and features of them that nothing was simulated for."""

import numpy as np

from synperf.measurements.points import Points
from synperf.serving.fitting.labels import Labels
from synperf.serving.fitting.served import Served
from synperf.serving.fitting.simulated import Simulated

from .test_solve import TRUE, made

FAMILIES = ("one", "two", "three")


def points(count: int = 48, gpus: tuple[str, ...] = ("h100_sxm", "b200_sxm"), model: str = "Qwen/Qwen3-32B") -> Points:
    """Points of three families on two GPUs; every other one is of the test half."""
    texts = {
        "name": [str(i) for i in range(count)], "model": [model] * count, "dtype": [""] * count,
        "family": [FAMILIES[i // 4 % 3] for i in range(count)], "gpu": [gpus[i // 2 % 2] for i in range(count)],
        "engine": ["vllm"] * count, "version": ["1.0"] * count, "source": ["daily"] * count,
    }  # fmt: skip
    numbers = {
        "tp": [2] * count, "pp": [1] * count, "dp": [1] * count, "ep": [1] * count, "osl": [128] * count,
        "isl": [(1024, 8192)[i // 12 % 2] for i in range(count)],
        "concurrency": [(4, 8, 32, 128)[i // 6 % 4] for i in range(count)],
    }  # fmt: skip
    ttft, tpot = made(count).times(TRUE)
    return Points(
        **{name: np.array(column, dtype=object) for name, column in texts.items()},
        **{name: np.array(column, dtype=np.int64) for name, column in numbers.items()},
        ttft_s=ttft,
        tpot_s=tpot,
        is_test=np.arange(count) % 2 == 0,
    )


def served(count: int = 48, scales: dict[str, float] | None = None) -> Served:
    """The same, with features that explain them exactly but for a scale of each family."""
    found = points(count)
    scale = np.array([(scales or {}).get(name, 1.0) for name in found.family])
    found.ttft_s[:] *= scale
    found.tpot_s[:] *= scale
    formats = np.array(["bf16"] * count, dtype=object)
    simulated = Simulated(features=(made(count), made(count)), formats=formats, limited=np.zeros(count, dtype=bool))
    return Served(points=found, labels=Labels.of(found, formats), simulated=simulated)
