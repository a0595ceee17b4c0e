"""Sparse attention of DeepSeek-V3.2 (DSA): an indexer scores all tokens, the heads meet the best of them as in absorbed
MLA. The module with indexer and projections, or the core alone.

Source: DeepSeek-V3.2, arXiv 2512.02556; sizes of GLM-5 from its config.json.
"""

from __future__ import annotations

from ..hardware import GPU
from ..numeric import Number
from ..scheduling import TaskGroups
from . import attention_launch
from . import sparse_attention_core as core
from . import sparse_attention_module as module
from .base import KernelFamily, Launch
from .mla_call import MODULE
from .mla_module import projection_s
from .one_by_one import Tiles
from .sparse_attention_call import SparseAttention
from .sparse_attention_inputs import STEPPED, inputs
from .sparse_attention_traits import sparse_kernel
from .sparse_attention_work import (
    cached_bytes,
    compulsory_bytes,
    flop,
    projections,
    score_flop,
    selected,
    weight_bytes,
)


def decompose(p: SparseAttention, gpu: GPU) -> TaskGroups:
    """Tiles of the core as one group whose work is that of the mean task; of a module, what is around it after it."""
    found = core.tasks(p, gpu, sparse_kernel(p, gpu))
    return module.tasks(p, found, gpu) if p.is_module else found


def dram_bytes(p: SparseAttention, gpu: GPU) -> Number:
    """DRAM traffic of a launch that finds L2 cold."""
    cached = 1.0 * p.kv_len * cached_bytes(p)
    found = compulsory_bytes(p) + module.repeated_bytes(p, gpu, cached)
    return found + module.dram_bytes(p, gpu) if p.is_module else found


def launch(p: SparseAttention, gpu: GPU) -> Launch:
    """Grid, resources and tile of the core of one call."""
    k = sparse_kernel(p, gpu)
    w = core.work(p, gpu, k)
    threads, registers, shared_bytes, resident = attention_launch.resources(w, gpu, p.dtype)
    choice = {
        "tile_heads": w.tiling.rows, "tile_kv": w.tiling.columns, "num_splits": w.splits, "selected": selected(p),
    }  # fmt: skip
    return Launch(
        tiles=int(w.tiles),
        grid=(int(min(w.tasks, gpu.num_sms)), 1, 1),
        persistent=True,
        threads=threads,
        registers=registers,
        shared_bytes=shared_bytes,
        occupancy=resident,
        choice={name: int(value) for name, value in choice.items()},
        choice_source=f"{k.name.removesuffix(MODULE)}'s, heads of one query a tile",
        facts=attention_launch.facts(w) | (_facts(p, gpu) if p.is_module else {}),
    )


def _facts(p: SparseAttention, gpu: GPU) -> dict[str, float]:
    """Seconds of each projection, of scores and selection, FLOP of the scores, and bytes of all weights."""
    found = {f"{x.name}_s": projection_s(x, gpu) for x in projections(p)}
    scores = (
        {"index_s": module.index_s(p, gpu), "select_s": module.select_s(p, gpu), "index_flop": score_flop(p)}
        if p.indexes
        else {}
    )
    return found | scores | {"weight_bytes": weight_bytes(p)}


def listed(p: SparseAttention, gpu: GPU) -> Tiles:
    """Tiles of the core of one call."""
    return core.listed(p, gpu, sparse_kernel(p, gpu))


def assumptions(p: SparseAttention, gpu: GPU) -> tuple[str, ...]:
    """What is in the time besides attention itself."""
    k, said = sparse_kernel(p, gpu), []
    if k.whole:
        said.append(f"core: {k.name} steps over all {p.topk} places of a selection, however few tokens there are")
    if not p.is_module:
        return (*said, "core: attention over latents that are selected already, without indexer and projections")
    said.append(f"module: projections around the core, hidden {p.hidden}, in {p.projected}")
    said.append("before: launches that normalise, rotate, quantise, write the caches and select")
    scores = f"scores all tokens in {module.index_dtype(p, gpu)}, for queries that have more than {p.topk}"
    said.append(f"indexer: {scores if p.indexes else 'none; the selection is that of an earlier layer'}")
    return tuple(said)


def variant(p: SparseAttention) -> str:
    """Modules and cores have networks of their own."""
    return "module" if p.is_module else "core"


_MODULE = SparseAttention(batch=64, q_len=1, kv_len=16384, heads=128, engine="plain")
_CORE = SparseAttention(batch=1, q_len=4096, kv_len=4096, heads=128, engine="plain", kernel="plain")
FAMILY = KernelFamily(
    name="sparse_attention",
    call_type=SparseAttention,
    decompose=decompose,
    launch=launch,
    assumptions=assumptions,
    flop=flop,
    compulsory_bytes=compulsory_bytes,
    dram_bytes=dram_bytes,
    example=_MODULE,
    others=(_CORE,),
    inputs=inputs,
    listed=listed,
    stepped=STEPPED,
    shape=("batch", "q_len", "kv_len", "heads", "hidden"),
    variant=variant,
    launches_like="mla",
    summary="sparse attention of DeepSeek-V3.2 and GLM-5: indexer, selection, absorbed core, and projections",
)
