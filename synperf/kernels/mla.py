"""Multi-head latent attention: the core over keys of every head (prefill) or over latents that heads share (absorbed),
and whole modules, which add the projections around it.

Source: DeepSeek-V2, arXiv 2405.04434; DeepSeek-V3, arXiv 2412.19437.
"""

from __future__ import annotations

from ..hardware import GPU, DType
from ..numeric import Number
from ..scheduling import TaskGroups
from . import attention_launch, mla_core, mla_module
from .attention_listed import tiles_of
from .attention_work import Work
from .base import KernelFamily, Launch
from .dispatch import PLAIN
from .mla_call import MODULE, Mla
from .mla_inputs import STEPPED, inputs
from .mla_traits import mla_kernel
from .one_by_one import Tiles


def flop(p: Mla) -> Number:
    """Useful FLOP; those of projections in another format count as what takes as long (`mla_module.flop`)."""
    return mla_core.flop(p) + mla_module.flop(p) if p.is_module else mla_core.flop(p)


def compulsory_bytes(p: Mla) -> Number:
    """Every operand read once, the result written once: of the core Q, K, V and O, of a module hidden states."""
    return mla_module.compulsory_bytes(p) if p.is_module else mla_core.compulsory_bytes(p)


def dram_bytes(p: Mla, gpu: GPU) -> Number:
    """DRAM traffic of a launch that finds L2 cold."""
    k = mla_kernel(p, gpu)
    if not p.is_module:
        return mla_core.dram_bytes(p, gpu, k)
    return mla_module.compulsory_bytes(p) + mla_core.repeated_bytes(p, gpu, k) + mla_module.dram_bytes(p, gpu)


def decompose(p: Mla, gpu: GPU) -> TaskGroups:
    """Tiles of the core as one group whose work is that of the mean task; of a module, its projections after it."""
    core = mla_core.tasks(p, gpu, mla_kernel(p, gpu))
    return mla_module.tasks(p, core, gpu) if p.is_module else core


def launch(p: Mla, gpu: GPU) -> Launch:
    """Grid, resources and tile of the core of one call."""
    k = mla_kernel(p, gpu)
    w = mla_core.work(p, gpu, k)
    threads, registers, shared_bytes, resident = attention_launch.resources(w, gpu, p.dtype)
    choice = {
        "tile_q": w.tiling.rows, "tile_kv": w.tiling.columns, "heads_per_tile": w.tiling.packed, "num_splits": w.splits,
    }  # fmt: skip
    persistent = w.traits.longest_first
    per_head = int(w.requests.total(w.steps.tiles) * w.splits)
    return Launch(
        tiles=int(w.tiles),
        grid=(int(min(w.tasks, gpu.num_sms)), 1, 1) if persistent else (per_head, int(w.tiling.heads), 1),
        persistent=persistent,
        threads=threads,
        registers=registers,
        shared_bytes=shared_bytes,
        occupancy=resident,
        choice={name: int(value) for name, value in choice.items()},
        choice_source=f"{k.name.removesuffix(MODULE)}'s, {'absorbed' if p.absorbed else 'over keys of every head'}",
        facts=_facts(p, gpu, w),
    )


def listed(p: Mla, gpu: GPU) -> Tiles:
    """Tiles of the core of one call; kernels over latents that split spread them evenly."""
    k = mla_kernel(p, gpu)
    core = mla_core.as_attention(p, k.prefill)
    return tiles_of(core, mla_core.work(p, gpu, k), is_even=bool(p.absorbed) and k.splits)


def _facts(p: Mla, gpu: GPU, w: Work) -> dict[str, float]:
    """Steps and split of the core, and of a module the seconds of each projection and the bytes of all weights."""
    found = attention_launch.facts(w)
    if p.is_module:
        found |= {f"{x.name}_s": mla_module.projection_s(x, gpu) for x in mla_module.projections(p)}
        found["weight_bytes"] = mla_module.weight_bytes(p)
    return found


def assumptions(p: Mla, gpu: GPU) -> tuple[str, ...]:
    """What is in the time besides attention itself."""
    k, said = mla_kernel(p, gpu), []
    if k.engine != PLAIN:
        said.append(f"before: with {k.name}, new latents are written to the cache")
    if p.is_module:
        said.append(
            f"module: projections of DeepSeek-V3 around the core, hidden {mla_module.HIDDEN}, in {p.proj_dtype}"
        )
        said.append("before: launches that normalise, rotate, put keys together and quantise")
    if p.absorbed and k.widens and p.kv_dtype is not p.dtype:
        said.append(f"before: {k.name} widens the cache to {p.dtype}")
    if not p.absorbed and k.rearranges:
        said.append(f"before: {k.name} rotates and rearranges Q, K and V")
    return tuple(said)


def variant(p: Mla) -> str:
    """Prefill and decode, core and module have networks of their own."""
    return ("decode" if p.absorbed else "prefill") + (MODULE if p.is_module else "")


FAMILY = KernelFamily(
    name="mla",
    call_type=Mla,
    decompose=decompose,
    launch=launch,
    assumptions=assumptions,
    flop=flop,
    compulsory_bytes=compulsory_bytes,
    dram_bytes=dram_bytes,
    example=Mla(batch=64, q_len=1, kv_len=4096, heads=128),
    others=(
        Mla(batch=64, q_len=1, kv_len=4096, heads=128, proj_dtype=DType.BF16),
        Mla(batch=4, q_len=4096, kv_len=4096, heads=128, proj_dtype=DType.BF16),
    ),
    inputs=inputs,
    listed=listed,
    stepped=STEPPED,
    shape=("batch", "q_len", "kv_len", "heads"),  # the published split is by call: eight numbers of heads are no sample
    by_one=(("absorbed", "q_len"),),
    variant=variant,
    summary="multi-head latent attention: prefill, absorbed decode, and whole modules with their projections",
)
