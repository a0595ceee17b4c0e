"""What a network would see of a memory-bound call beyond the demand on pipes: extents, alignment, CTAs, L2."""

from __future__ import annotations

from ..hardware import GPU, DType
from ..hardware.rates import rates
from ..numeric import Number, ceil_div, common_divisor, maximum, minimum
from .memory_tasks import SECTOR_BYTES, Split, missed
from .memory_traits import Style, l2_held_bytes
from .memory_work import Work

STEPPED = ("rows", "dim", "tasks_per_sm", "rounds")
# What grows with a call without end. Networks of families that are asked for far larger calls than any measured one do
# not see it.
SIZES = ("rows", "dim", "values", "tasks_per_sm", "sm_max_tasks", "rounds", "base_over_launch", "working_set", "fill")
# What is one number for all calls on a GPU, or nearly so, by which a network would learn the measured GPUs by heart:
# FLOP and shared memory, which these kernels do not wait for, and what SM and L2 hold. Chosen by leaving GPUs out of
# NeuSight's training rows.
OF_GPUS = (
    "math", "math_over_dram", "fma_time", "xu_time", "tensor_sm_max", "shared_sm_max", "ctas_per_sm", "over_held",
    "l2_time",
)  # fmt: skip
MOST_ALIGNED = 128.0  # bytes: a line, that no load or store asks more than


def inputs(w: Work, k: Style, s: Split, gpu: GPU, base_s: Number, waits_s: Number) -> dict[str, Number]:
    """Inputs by name, all positive; `base_s` is what times are relative to, `waits_s` those of the busiest SM."""
    fp32 = rates(gpu, DType.FP32)
    per_sm = ceil_div(s.tasks, gpu.num_sms)
    sm_share = w.values / gpu.num_sms
    return {
        "rows": 1.0 * w.rows,
        "dim": 1.0 * w.dim,
        "values": w.values,
        "read_per_value": w.read,
        "written_per_value": w.written,
        "row_alignment": common_divisor(w.dim * w.value_in, MOST_ALIGNED),
        "vector_bytes": s.vector_bytes,
        "threads": s.threads,
        "rows_per_cta": s.rows,
        "values_per_cta": s.rows * s.values,
        "ctas_per_sm": s.ctas_per_sm,
        "rounds": ceil_div(per_sm, s.ctas_per_sm),
        "passes": 1.0 * w.passes,
        "reductions": 1.0 + w.reductions + k.reductions,
        "missed": 1.0 + missed(w, gpu),
        "over_held": minimum(maximum(w.compulsory_bytes / l2_held_bytes(gpu), 0.25), 4.0),
        "l2_time": w.compulsory_bytes / gpu.l2_bytes_per_s / base_s,
        "fma_time": 1.0 + w.flop * w.executed * sm_share / fp32.fma_flop_per_s / base_s,
        "xu_time": 1.0 + (w.xu + w.row_xu / w.dim) * sm_share / fp32.xu_op_per_s / base_s,
        "waits": 1.0 + waits_s / base_s,
    }


def of_passes(w: Work, s: Split, gpu: GPU) -> dict[str, Number]:
    """Of rows that are gone over several times: those that all SMs are at together, over L2, where the next pass finds
    them if they fit. Alignment counts up to a sector: few measured rows have more, and most that are asked for.
    """
    at_once = minimum(s.tasks, 1.0 * gpu.num_sms * s.ctas_per_sm)
    return {
        "row_alignment": common_divisor(w.dim * w.value_in, SECTOR_BYTES),
        "in_flight": at_once * s.rows * s.values * w.read / gpu.l2_bytes,
    }
