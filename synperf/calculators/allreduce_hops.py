"""What a step of an all-reduce costs on the links of a GPU, and what NCCL takes its protocols to need there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..collectives import Collective, tuning
from ..collectives.algorithms import RING, Term
from ..collectives.curves import fastest
from ..collectives.estimate import estimate
from ..collectives.place import Place, place
from ..hardware import GPU
from ..units import format_time
from .allreduce_times import Hops

_SIMPLE = "simple"


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """What NCCL takes one algorithm with one protocol to need."""

    algorithm: str
    protocol: str
    time_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OnGpu:
    """The links of a GPU: what they reach, the published rate of that within a node, and the time predicted there."""

    place: Place
    hops: Hops
    link_bytes_per_s: float
    protocols: tuple[Protocol, ...]
    time_s: float
    low_s: float
    high_s: float
    assumptions: tuple[str, ...]


def on_gpu(call: Collective, gpu: GPU) -> OnGpu:
    """The links of a GPU that a message takes.

    Raises:
        PerfError: as `synperf predict all_reduce`.
    """
    where = place(call, gpu, call.ranks, call.nodes)
    terms = tuning.terms(call.operation, where)
    ring = next(one for one in terms if (one.algorithm, one.protocol) == (RING, _SIMPLE))
    predicted = estimate(call, gpu)
    said = f"latency_s: {format_time(ring.hop_s)}, NCCL's own for a step of a ring with the protocol simple"
    return OnGpu(
        place=where,
        hops=_hops(where, ring),
        link_bytes_per_s=where.bytes_per_s,
        protocols=tuple(sorted(_protocols(call, where, terms), key=lambda one: one.time_s)),
        time_s=float(predicted.time_s),
        low_s=float(predicted.low_s),
        high_s=float(predicted.high_s),
        assumptions=(said, *predicted.assumptions),
    )


def _hops(where: Place, ring: Term) -> Hops:
    within = where.bytes_per_s * where.link.efficiency
    if where.network is None:
        return Hops(latency_s=ring.hop_s, bandwidth=within)
    between = where.reached_network_bytes_per_s / where.ranks_per_node
    return Hops(latency_s=ring.hop_s, bandwidth=within, network_latency_s=ring.network_hop_s, network_bandwidth=between)


def _protocols(call: Collective, where: Place, terms: tuple[Term, ...]) -> Iterator[Protocol]:
    size = np.array([call.bytes], dtype=float)
    for term in terms:
        time_s, _, _ = fastest((term,), call.operation, size, where.ranks, where.nodes)
        yield Protocol(algorithm=term.algorithm, protocol=term.protocol, time_s=float(time_s[0]))
