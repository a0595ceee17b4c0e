"""The feature vector, theoretical cycles and efficiency exactly as the paper defines them, for its baseline.

They differ from `features.py` on purpose: bytes are counted on padded tiles, only loads count, and the busiest SM
has a 1 / num_sms share of DRAM. Bandwidths are decimal: the released code takes GB for GiB, 6.87 % too fast.
Source: SynPerf, arXiv 2601.14910, section on features, and its artifact (Apache-2.0).
"""

from __future__ import annotations

from .errors import UnsupportedError
from .features import VERSION
from .hardware import GPU
from .kernels.base import Call
from .kernels.gemm_call import Gemm
from .kernels.gemm_tiles import bytes_per_k
from .kernels.gemm_tiling import Tiling, choose
from .numeric import Number, ceil_div, round_up

NAMES = (
    "tensor_op", "tensor_cycles", "sm_max_tensor_op", "sm_max_tensor_cycles",
    "in_flight_kib", "dram_cycles", "l2_cycles",
    "sm_max_in_flight_kib", "sm_max_dram_cycles", "sm_max_l2_cycles", "sm_max_shared_cycles",
)  # fmt: skip
FEATURES_VERSION = f"paper-gemm-{VERSION}"


def vector(p: Call, gpu: GPU, tiling: Tiling | None = None) -> dict[str, Number]:
    """The 11 entries of a GEMM by name; `in_flight_kib` is what the tasks load, each for itself.

    `dram_cycles` are those of the unique bytes of A and B, padded to whole tiles.

    Raises:
        UnsupportedError: the call is of another family.
    """
    if not isinstance(p, Gemm):
        raise UnsupportedError(f"recipe: the paper's features are of Gemm, not of {type(p).__name__}; leave it out")
    t = tiling or choose(p, gpu)
    tasks = ceil_div(p.m, t.tile_m) * ceil_div(p.n, t.tile_n) * p.batch * t.split_k
    on_sm_max = ceil_div(tasks, gpu.num_sms)
    op = 2.0 * t.tile_m * t.tile_n * t.k_per_task
    loads = bytes_per_k(p.dtype, t.tile_m, t.tile_n) * t.k_per_task
    rate = gpu.flop_per_clk_per_sm(p.dtype)
    dram_clk, l2_clk = gpu.dram_bytes_per_s / gpu.clock_hz, gpu.l2_bytes_per_s / gpu.clock_hz
    unique = unique_load_bytes(p, t)
    unique_per_task = unique / tasks
    return {
        "tensor_op": op * tasks,
        "tensor_cycles": op * tasks / (rate * gpu.num_sms),
        "sm_max_tensor_op": op * on_sm_max,
        "sm_max_tensor_cycles": op * on_sm_max / rate,
        "in_flight_kib": loads * tasks / 1024,
        "dram_cycles": unique / dram_clk,
        "l2_cycles": loads * tasks / l2_clk,
        "sm_max_in_flight_kib": loads * on_sm_max / 1024,
        "sm_max_dram_cycles": unique_per_task * on_sm_max * gpu.num_sms / dram_clk,
        "sm_max_l2_cycles": loads * on_sm_max * gpu.num_sms / l2_clk,
        "sm_max_shared_cycles": loads * on_sm_max / gpu.shared_bytes_per_clk_per_sm,
    }


def unique_load_bytes(p: Gemm, t: Tiling) -> Number:
    """Bytes of A and B, each once, padded to whole tiles in m and n and whole steps in k."""
    rows, columns, depth = round_up(p.m, t.tile_m), round_up(p.n, t.tile_n), round_up(p.k, t.tile_k)
    return p.batch * bytes_per_k(p.dtype, rows, columns) * depth


def efficiency(p: Gemm, gpu: GPU, measured_s: Number) -> Number:
    """Theoretical tensor cycles over measured cycles, the target of the paper's network; not `Estimate.efficiency`."""
    return vector(p, gpu)["tensor_cycles"] / (measured_s * gpu.clock_hz)
