"""The tiles that GEMM libraries ship, by architecture, and the resources that one CTA of each takes.

Source: CUTLASS, `media/docs/efficient_gemm.md` and the default configurations of its library generator;
NVIDIA, "CUDA C++ Programming Guide" (shared memory and registers per CTA). Other makers: the names of hipBLASLt's
kernels (`MT256x256x64`) and the configurations of Intel's SYCL port of CUTLASS, whose tiles are those of mma.sync and
one larger.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ..errors import UnsupportedError
from ..hardware import GPU, DType
from ..hardware.makers import NVIDIA
from ..numeric import Number, where
from ..scheduling import Occupancy, occupancy

# Output tiles of the sm80-style kernels (mma.sync): also Volta, Turing, Ada and consumer Blackwell.
_MMA_SYNC = (
    *((256, 128), (128, 256), (128, 128), (256, 64), (64, 256), (128, 64), (64, 128), (64, 64)),
    *((32, 128), (128, 32), (32, 32), (16, 16)),  # cuBLAS, for few rows or columns
)
_LARGEST_OF_OTHERS = (256, 256)  # of GPUs whose registers hold 64 Ki accumulators beside their fragments
# Warp-specialised kernels with TMA multicast: (tile_m, tile_n, clusters)
_ALONE = ((1, 1),)
_PAIRS = ((2, 1), (1, 2), (1, 1))
_HOPPER = (
    (128, 256, _PAIRS),
    (256, 128, _PAIRS),
    (128, 128, _PAIRS),
    (64, 256, _ALONE),
    (64, 128, _ALONE),
    (128, 64, _ALONE),
    (64, 64, _ALONE),
    *((m, n, _ALONE) for m, n in ((32, 128), (128, 32), (16, 64), (64, 16))),  # the few values as N of wgmma
)
# Datacentre Blackwell: 128 rows per SM in tensor memory; pairs of SMs multiply 256 rows and share B.
_BLACKWELL = (
    (128, 256, ((2, 1), (2, 2), (4, 1), (1, 1))),
    (128, 128, ((2, 1), (2, 2), (1, 1))),
    (128, 64, _ALONE),
    (64, 128, _ALONE),
    (64, 64, _ALONE),
    *((m, n, _ALONE) for m, n in ((32, 128), (128, 32), (16, 64), (64, 16))),
)
_FMA_TILE_K = 8  # CUTLASS SIMT kernels step 8 values of k
_MAX_STAGES = 5  # CUTLASS ships sm80 kernels of 3 to 5 stages; Hopper's "auto" takes what fits
_LEAST_STAGES = 2  # below two there is no overlap of copies and math
_FRAGMENT_REGISTERS = (
    64  # two buffers of a fragment of A and of B, 16 deep, in 16 bit: 2 x 2 x 2 rows per lane x 16 x 2 B / 4 B
)
_HOPPER_REGISTERS = 168  # 65,536 / 384 threads, rounded down to 8: two consumer warpgroups and a producer
_BLACKWELL_REGISTERS = 128  # accumulators are in tensor memory; the epilogue's share


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One kernel variant. `cluster_m` CTAs side by side in m share each load of B, `cluster_n` in n those of A."""

    tile_m: int
    tile_n: int
    tile_k: int
    cluster_m: int = 1
    cluster_n: int = 1
    stages: int
    threads: int
    registers: int
    shared_bytes: int
    persistent: bool  # one CTA per resident slot that walks over tiles
    occupancy: Occupancy


class Shipped(NamedTuple):
    """The tiles that one kernel is built with, on mma.sync whatever the architecture: (tile_m, tile_n), and tile_k."""

    sides: tuple[tuple[int, int], ...]
    tile_k: int


@lru_cache(maxsize=256)
def tiles(gpu: GPU, dtype: DType, shipped: Shipped | None = None) -> tuple[Tile, ...]:
    """Every tile that fits this GPU in this format, of those that the kernel ships, else of its architecture's."""
    tile_k = step_of_k(gpu, dtype, shipped)
    found = [
        tile
        for tile_m, tile_n, clusters in _shapes(gpu, dtype, shipped)
        for cluster_m, cluster_n in clusters
        if (tile := build(gpu, dtype, tile_m, tile_n, tile_k, cluster_m, cluster_n, bool(shipped))) is not None
    ]
    if not found:
        limits = (
            "shared_bytes_per_cta",
            "registers_per_sm",
            "max_threads_per_cta",
            "max_warps_per_sm",
            "max_ctas_per_sm",
        )
        had = ", ".join(f"{name} {getattr(gpu, name)}" for name in limits)
        raise UnsupportedError(f"gpu: no GEMM tile fits the SM of {gpu.name}: {had}")
    return tuple(found)


def is_persistent(gpu: GPU, dtype: DType) -> bool:
    """Whether libraries launch CTAs that stay and walk over tiles: tensor kernels of Hopper and big Blackwell."""
    return gpu.cc[0] in (9, 10) and gpu.math_pipe(dtype) == "tensor"


def port_share_of_b(gpu: GPU, cluster_m: Number) -> Number:
    """Share of its columns of B that an SM itself loads: half on datacentre Blackwell, where two SMs multiply together.

    Elsewhere multicast spares L2, not the port: every SM of a cluster gets the whole tile.
    """
    return where(cluster_m > 1, 0.5, 1.0) if gpu.cc[0] == 10 else 1.0


def default_tile_k(gpu: GPU, dtype: DType) -> int:
    """Values of k in one step: a 64-byte row of shared memory, since Hopper a 128-byte one (its widest swizzle)."""
    if gpu.math_pipe(dtype) == "fma":
        return _FMA_TILE_K
    return int((64 if gpu.cc < (9, 0) else 128) / dtype.activations.bytes)


def step_of_k(gpu: GPU, dtype: DType, shipped: Shipped | None) -> int:
    """Values of k in one step of a kernel: its own, else `default_tile_k`."""
    return shipped.tile_k if shipped else default_tile_k(gpu, dtype)


def bytes_per_k(dtype: DType, rows: Number, columns: Number) -> Number:
    """Bytes of A and B for one value of k; weights narrower than activations stay so until they are in registers."""
    return rows * dtype.activations.bytes + columns * dtype.bytes


@lru_cache(maxsize=4096)
def build(
    gpu: GPU,
    dtype: DType,
    tile_m: int,
    tile_n: int,
    tile_k: int,
    cluster_m: int = 1,
    cluster_n: int = 1,
    mma_sync: bool = False,
) -> Tile | None:
    """The tile with as many stages as fit, or None where not even two do, or no SM could hold one CTA.

    `mma_sync`: built so on architectures too whose libraries have other kernels.
    """
    stage, persistent = int(bytes_per_k(dtype, tile_m, tile_n) * tile_k), is_persistent(gpu, dtype) and not mma_sync
    stages = min(_MAX_STAGES, gpu.shared_bytes_per_cta // max(stage, 1))
    threads, registers = _threads_and_registers(gpu, tile_m, tile_n, persistent)
    if stages < _LEAST_STAGES or registers > gpu.max_registers_per_thread or threads > gpu.max_threads_per_cta:
        return None
    resident = occupancy(gpu, threads, registers, stages * stage)
    if resident.ctas_per_sm == 0:
        return None
    return Tile(
        tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, cluster_m=cluster_m, cluster_n=cluster_n, stages=stages,
        threads=threads, registers=registers, shared_bytes=stages * stage, persistent=persistent,
        occupancy=resident,
    )  # fmt: skip


def _shapes(
    gpu: GPU, dtype: DType, shipped: Shipped | None
) -> tuple[tuple[int, int, tuple[tuple[int, int], ...]], ...]:
    if shipped:
        return tuple((m, n, _ALONE) for m, n in shipped.sides)
    if is_persistent(gpu, dtype):
        return _HOPPER if gpu.cc[0] == 9 else _BLACKWELL
    shapes = _MMA_SYNC if gpu.maker == NVIDIA else (_LARGEST_OF_OTHERS, *_MMA_SYNC)
    return tuple((m, n, _ALONE) for m, n in shapes)


def _threads_and_registers(gpu: GPU, tile_m: int, tile_n: int, warp_specialised: bool) -> tuple[int, int]:
    outputs = tile_m * tile_n
    if warp_specialised and gpu.cc[0] == 9:  # a producer warpgroup, and consumers of at most 128 x 128 outputs each
        return 128 * (1 + -(-outputs // 128**2)), _HOPPER_REGISTERS
    if warp_specialised:
        return 256, _BLACKWELL_REGISTERS
    side = 2 * gpu.warp_size  # of the outputs that a warp owns at most: 64 x 64 for 32 threads
    threads = gpu.warp_size * max(4, -(-outputs // side**2))
    return threads, -(-outputs // threads) + _FRAGMENT_REGISTERS
