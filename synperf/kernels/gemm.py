"""GEMM, C[m, n] = A[m, k] B[k, n]: one task computes one tile_m x tile_n tile of C, or one split_k-th of its sum.

An edge tile costs as much as a full one (tile quantization), and the k loop runs over whole steps of tile_k.
Source: NVIDIA, "Matrix Multiplication Background User's Guide"; CUTLASS, "Efficient GEMM in CUDA".
"""

from __future__ import annotations

import numpy as np

from ..hardware import GPU
from ..hardware.rates import rates
from ..numeric import Number, ceil_div, maximum, minimum, where
from ..scheduling import TaskGroups
from ..scheduling.software import num_workers
from .base import KernelFamily, Launch
from .gemm_call import Gemm
from .gemm_costs import PARTIAL_BYTES, operand_value_bytes, widen_flop
from .gemm_inputs import STEPPED, inputs, of_gpus, sizes, variant
from .gemm_tiles import port_share_of_b
from .gemm_tiling import Tiling, choose
from .gemm_traits import traits


def flop(p: Gemm) -> Number:
    """Useful FLOP: a multiply and an add per element of the m x n x k box."""
    return 2.0 * p.m * p.n * p.k * p.batch


def operand_bytes(p: Gemm) -> tuple[Number, Number, Number]:
    """Bytes of A, B and C of the whole batch, scales of block formats included."""
    a, b, c = operand_value_bytes(p.dtype, p.out_dtype)
    return p.batch * (a * p.m * p.k), p.batch * (b * p.k * p.n), p.batch * (c * p.m * p.n)


def compulsory_bytes(p: Gemm) -> Number:
    """A and B read once, C written once."""
    a, b, c = operand_bytes(p)
    return a + b + c


def dram_bytes(p: Gemm, gpu: GPU) -> Number:
    """DRAM traffic of a launch that finds L2 cold: compulsory bytes, what later waves read again, quantisation.

    CTAs that run together cover a block of C whose area is what the accumulators of all SMs hold (half of the
    register files in fp32), as square as m and n allow, so A is passed over n / width times and B m / height
    times. L2 serves the repeated passes for the share of A and B that it holds.
    Source: CUTLASS, "threadblock rasterization"; the block is the I/O bound of Hong and Kung, STOC 1981.
    """
    a, b, c = operand_bytes(p)
    return a + b + c + quantise_bytes(p, gpu) + again_bytes(p, gpu, a, b)


def again_bytes(p: Gemm, gpu: GPU, a: Number, b: Number) -> Number:
    """Bytes of later passes over `a` and `b` bytes of operands that come out of DRAM; see `dram_bytes`."""
    held = gpu.l2_bytes * p.batch / (a + b)  # products of a batch run one after the other
    if type(held) is float and held >= 1.0:
        return 0.0  # nothing is read again; most single calls stop here
    area = gpu.num_sms * gpu.registers_per_sm / 2.0
    side = area**0.5
    passes_a = ceil_div(1.0 * p.n * minimum(p.m, side), area)
    passes_b = ceil_div(1.0 * p.m * minimum(p.n, side), area)
    missed = maximum(0.0, 1.0 - held)
    return missed * ((passes_a - 1) * a + (passes_b - 1) * b)


def quantise_bytes(p: Gemm, gpu: GPU) -> Number:
    """DRAM traffic of the pass that quantises the activations, where the engine's kernel begins with one."""
    per_value = traits(gpu, p.dtype, p.engine, p.kernel).quantise_bytes
    return per_value * p.m * p.k * p.batch if per_value else 0.0


def decompose(p: Gemm, gpu: GPU) -> TaskGroups:
    """Tiles of the chosen tiling as one group of identical tasks."""
    return tasks(p, gpu, choose(p, gpu))


def tasks(p: Gemm, gpu: GPU, t: Tiling) -> TaskGroups:
    """Work of one task under tiling `t`: math on the padded tile, traffic for the values that exist."""
    m, n, k, tile_m, tile_n, k_per_task = p.m, p.n, p.k, t.tile_m, t.tile_n, t.k_per_task
    rows, columns = minimum(m, tile_m), minimum(n, tile_n)
    a_bytes, b_bytes, out_bytes = operand_value_bytes(p.dtype, p.out_dtype)
    outputs, split_k = rows * columns, t.split_k
    port_b_bytes = b_bytes * port_share_of_b(gpu, t.cluster_m)
    port_out_bytes = out_bytes + where(split_k > 1, PARTIAL_BYTES, 0.0)
    math, widening, r = 2.0 * tile_m * tile_n * k_per_task, widen_flop(p.dtype, tile_n, k_per_task), rates(gpu, p.dtype)
    return TaskGroups(
        count=t.tasks,
        tensor_flop=math if r.is_tensor else 0.0,
        fma_flop=widening if r.is_tensor else math + widening,
        load_bytes=(rows * (a_bytes / t.cluster_n) + columns * (b_bytes / t.cluster_m)) * (k / split_k),
        store_bytes=outputs * out_bytes / split_k,
        port_bytes=(rows * a_bytes + columns * port_b_bytes) * minimum(k_per_task, k) + outputs * port_out_bytes,
        shared_bytes=(tile_m * r.activation_bytes + tile_n * r.value_bytes) * k_per_task,
        ctas_per_sm=t.ctas_per_sm,
        reduction_s=t.reduction_s,
    )


def launch(p: Gemm, gpu: GPU) -> Launch:
    """Grid, resources and chosen tiling of one call."""
    t = choose(p, gpu)
    assert t.tile is not None
    persistent = t.tile.persistent
    across, down = int(ceil_div(p.n, t.tile_n)), int(ceil_div(p.m, t.tile_m))
    workers = int(num_workers(t.tasks, gpu.num_sms, t.ctas_per_sm))
    return Launch(
        tiles=int(t.tiles),
        grid=(workers, 1, 1) if persistent else (across, down, int(p.batch * t.split_k)),
        persistent=persistent,
        threads=t.tile.threads,
        registers=t.tile.registers,
        shared_bytes=t.tile.shared_bytes,
        occupancy=t.tile.occupancy,
        choice={name: int(getattr(t, name)) for name in _CHOICE} | {"stages": t.tile.stages},
        choice_source=t.source,
    )


_CHOICE = ("tile_m", "tile_n", "tile_k", "split_k", "k_per_task", "cluster_m", "cluster_n")


def assumptions(p: Gemm, gpu: GPU) -> tuple[str, ...]:
    """What is in the time besides the product."""
    kernel, said = traits(gpu, p.dtype, p.engine, p.kernel), []
    if kernel.quantise_bytes:
        per_value = f"{kernel.quantise_bytes:g} bytes per value of A"
        said.append(f"dram: {kernel.kernel} quantises its activations first, {per_value}")
    if p.split_k is not None and np.any(p.split_k != choose(p, gpu).split_k):
        said.append("split_k: fewer slices than given where k has no whole step of tile_k for each")
    return tuple(said)


FAMILY = KernelFamily(
    name="gemm",
    call_type=Gemm,
    decompose=decompose,
    launch=launch,
    assumptions=assumptions,
    flop=flop,
    compulsory_bytes=compulsory_bytes,
    dram_bytes=dram_bytes,
    example=Gemm(m=4096, n=4096, k=4096),
    inputs=inputs,
    stepped=STEPPED,
    sizes=sizes,
    of_gpus=of_gpus,
    variant=variant,
    chosen=("tile_m", "tile_n", "tile_k", "split_k"),
    always_one=("batch",),
    shape=("n", "k"),
    summary="matrix product C[m, n] = A[m, k] B[k, n], optionally batched",
)
