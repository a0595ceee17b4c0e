"""How an attention call is launched: grid, resources, split, and how unequal its tasks are, for `explain`."""

from __future__ import annotations

from functools import lru_cache

from ..hardware import GPU, DType
from ..numeric import Number, is_array
from ..scheduling import Occupancy, TaskGroups, occupancy
from .attention_call import Attention
from .attention_traits import traits
from .attention_work import Work, work
from .base import Launch
from .dispatch import PLAIN

_MMA_WARPS = 4
_MMA_THREADS = 128  # four warps of 32
_BLACKWELL_THREADS = 512  # FlashAttention-4: two softmax warpgroups, one that rescales, one that loads and multiplies
_BLACKWELL_REGISTERS = 128  # 65,536 / 512
_OTHER_REGISTERS = 64  # addresses, maxima, sums, fragments; an estimate


def launch(p: Attention, gpu: GPU) -> Launch:
    """Grid, resources and chosen tile of one call."""
    w = work(p, gpu)
    t, r = w.tiling, w.requests
    threads, registers, shared_bytes, resident = resources(w, gpu, p.dtype)
    per_head = int(r.total(w.steps.tiles) * w.splits)
    persistent = w.traits.longest_first
    choice = {"tile_q": t.rows, "tile_kv": t.columns, "heads_per_tile": t.packed, "num_splits": w.splits}
    return Launch(
        tiles=int(w.tiles),
        grid=(int(min(w.tasks, gpu.num_sms)), 1, 1) if persistent else (per_head, int(t.heads), 1),
        persistent=persistent,
        threads=threads,
        registers=registers,
        shared_bytes=shared_bytes,
        occupancy=resident,
        choice={name: int(value) for name, value in choice.items()},
        choice_source=f"{w.traits.kernel}'s for head_dim {int(p.head_dim)}",
        facts=facts(w),
    )


def facts(w: Work) -> dict[str, float]:
    """Steps over tiles of keys: in all, of the longest tile, of the busiest SM, and keys in a part of a split tile."""
    longest = w.requests.most(w.steps.longest)
    found = {"steps": w.total_steps, "longest_tile_steps": longest, "busiest_sm_steps": w.busiest}
    if w.splits > 1:
        found["keys_per_part"] = -(-longest // w.splits) * w.tiling.columns
    return found


def resources(w: Work, gpu: GPU, dtype: DType) -> tuple[int, int, int, Occupancy]:
    """(threads, registers per thread, bytes of shared memory, occupancy) of one CTA of a single call."""
    t = w.tiling
    return _resources(gpu, dtype, w.traits.stages, t.rows, t.columns, t.head_dim, t.v_head_dim)


@lru_cache(maxsize=1024)
def _resources(
    gpu: GPU, dtype: DType, stages: int, rows: float, columns: float, head_dim: float, v_head_dim: float
) -> tuple[int, int, int, Occupancy]:
    if gpu.cc[0] == 10:
        threads, registers = _BLACKWELL_THREADS, _BLACKWELL_REGISTERS
    elif gpu.cc[0] == 9:  # a producer, and a consumer warpgroup per 64 rows, which share all registers in units of 8
        threads = int(128 * (1 + -(-rows // 64)))
        registers = gpu.registers_per_sm // threads // 8 * 8
    else:
        threads = max(_MMA_THREADS, _MMA_WARPS * gpu.warp_size)
        registers = int(rows * (v_head_dim + columns) / threads) + _OTHER_REGISTERS
    registers = min(registers, gpu.max_registers_per_thread)
    shared_bytes = int((rows * head_dim + stages * columns * max(head_dim, v_head_dim)) * dtype.bytes)
    shared_bytes = min(shared_bytes, gpu.shared_bytes_per_cta)  # kernels for smaller SMs keep Q in registers
    return threads, registers, shared_bytes, occupancy(gpu, threads, registers, shared_bytes)


def ctas_per_sm(w: Work, gpu: GPU, dtype: DType) -> Number:
    """Resident CTAs of a single call; 1 for columns, whose times do not depend on it."""
    return 1 if is_array(w.tasks) else resources(w, gpu, dtype)[3].ctas_per_sm


def mean_tasks(w: Work, gpu: GPU, dtype: DType) -> TaskGroups:
    """Tiles, or their parts, as one group whose work is that of the mean task."""
    each = w.total_steps / w.tasks  # steps of the mean task
    busiest = w.busiest * w.tasks / w.total_steps  # tasks of the busiest SM, in mean ones
    idle = type(w.step.tensor_flop) is float and w.step.tensor_flop == 0.0
    return TaskGroups(
        count=w.tasks,
        tensor_flop=0.0 if idle else w.step.tensor_flop * each,
        fma_flop=w.step.fma_flop * each,
        xu_op=w.step.xu_op * each,
        load_bytes=w.load_bytes / w.tasks,
        store_bytes=w.store_bytes / w.tasks,
        port_bytes=w.port_bytes / busiest,
        shared_bytes=w.step.shared_bytes * each,
        ctas_per_sm=ctas_per_sm(w, gpu, dtype),
        sm_max_tasks=busiest,
        fill_s=w.fill_s,
    )


def assumptions(p: Attention, gpu: GPU) -> tuple[str, ...]:
    """What is in the time besides attention itself."""
    t = traits(gpu, p.dtype, p.engine, p.kernel)
    if t.engine == PLAIN:
        return ()
    queries = ", and queries rotated" if t.prepares_queries else ""
    return (f"dram: with {t.kernel}, new keys and values are written to the cache{queries} in a pass before",)
