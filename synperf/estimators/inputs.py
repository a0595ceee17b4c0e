"""Features -> what a network sees: the base time that it corrects, and positive numbers that mean the same on any GPU.

The base is launch floor + roofline at sustained rates. Of a GPU that has a calibration record, these are its own;
else the published rates times what measured GPUs typically sustain. Logarithms are taken here, once for all inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..features import Features, seen_l2_s
from ..hardware import GPU, DType
from ..hardware.launch import launch_floor
from ..hardware.rates import rates as rates_of
from ..hardware.records import typical_shares
from ..kernels import KernelFamily
from ..kernels import family as family_named
from ..numeric import Number, is_array, maximum

VERSION = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sustained:
    """Shares of the published rates that a GPU holds, and the launch floor of a kernel on it, in seconds."""

    clock_share: float
    dram_share: float
    launch_s: float
    assumptions: tuple[str, ...]


@lru_cache(maxsize=4096)
def sustained(gpu: GPU, family: str, kernel: str, dtype: DType) -> Sustained:
    """What the calibration record says, and in its place what measured GPUs typically sustain."""
    launch_s, said = launch_floor(gpu, family, kernel, dtype, family_named(family).launches_like)
    record = gpu.calibration
    typical: dict[str, float] = {}
    missing = [name for name in ("clock_share", "dram_share") if getattr(record, name) is None]
    if missing:
        typical = typical_shares()  # which reads the records of all GPUs
        shown = " and ".join(f"{name} {typical[name]:g}" for name in missing)
        said = (*said, f"sustained rates: not measured, the typical {shown} of the published ones")
    return Sustained(
        clock_share=typical["clock_share"] if record.clock_share is None else record.clock_share,
        dram_share=typical["dram_share"] if record.dram_share is None else record.dram_share,
        launch_s=max(launch_s, 1e-6),
        assumptions=said,
    )


def base(f: Features, gpu: GPU, dtype: DType, rates: Sustained) -> tuple[Number, Number, Number]:
    """(base, math, DRAM) seconds: launch floor + the slower of FLOP and compulsory bytes at sustained rates."""
    math_s = maximum(f.flop, 1.0) / (rates_of(gpu, dtype).peak_flop_per_s * rates.clock_share)  # copies have none
    dram_s = f.compulsory_bytes / (gpu.dram_bytes_per_s * rates.dram_share)
    return rates.launch_s + maximum(math_s, dram_s), math_s, dram_s


def inputs(kind: KernelFamily, call: Any, gpu: GPU, f: Features, rates: Sustained) -> tuple[Number, dict[str, Number]]:
    """(base time in seconds, inputs by name), of one call or of columns of calls."""
    base_s, math_s, dram_s = base(f, gpu, kind.math(call), rates)
    tasks_per_sm, busiest_tasks, busy = f.load.tasks / gpu.num_sms, f.load.sm_max_tasks, f.busiest_s
    found = {
        "math": math_s / base_s,
        "dram": dram_s / base_s,
        "math_over_dram": math_s / dram_s,
        "base_over_launch": base_s / rates.launch_s,
        "extra_traffic": 1.0 + (f.dram_bytes - f.compulsory_bytes) / (gpu.dram_bytes_per_s * rates.dram_share) / base_s,
        "reduction": 1.0 + f.reduction_s / rates.launch_s,
        "tasks_per_sm": tasks_per_sm,
        "sm_max_tasks": busiest_tasks,
        "fill": tasks_per_sm / busiest_tasks,
        "padding": f.padding,
        "working_set": f.working_set_over_l2,
        "tensor_sm_max": busy["tensor"] / base_s + 1e-9,
        "dram_sm_max": busy["dram"] / base_s + 1e-9,
        "l2_sm_max": seen_l2_s(f) / base_s + 1e-9,
        "shared_sm_max": busy["shared"] / base_s + 1e-9,
    }
    found.update(kind.inputs(call, gpu, base_s, rates.clock_share))
    return base_s, found


def logarithms(found: dict[str, Number], base_s: Number) -> np.ndarray:
    """(rows, D) natural logarithms of the inputs, float32; (D,) of one call, whose base time is a number.

    The rows of each input lie side by side, as the network wants them.
    """
    if not is_array(base_s):
        return np.log(np.fromiter(found.values(), np.float32, len(found)))
    table = np.empty((len(found), len(base_s)), dtype=np.float32)
    for i, value in enumerate(found.values()):
        table[i] = value
    return np.log(table, out=table).T
