"""How long an all-reduce takes by each algorithm, and from which size on a ring is faster than a tree.

A step costs the latency, and the bytes that a rank sends in it cost their number over the bandwidth. Sources: as in
`collectives/alpha_beta.py`; NCCL's own constants as in `collectives/nccl_tuning.toml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..collectives import Collective
from ..collectives.algorithms import ALL_REDUCE, RING, wire_share
from ..collectives.alpha_beta import crossover_bytes, crossover_pipelined_bytes, tree_levels
from ..errors import FieldError
from ..hardware import GPU
from ..hardware import links as catalog
from . import allreduce_wire as wire
from . import allreduce_words as words
from .allreduce_hops import OnGpu, Protocol, on_gpu
from .allreduce_times import Hops
from .allreduce_wire import Measured
from .allreduce_words import Message, message
from .amounts import positive


@dataclass(frozen=True, slots=True, kw_only=True)
class AllReduce:
    """One message: `times` are seconds by algorithm, `ring` and `tree` among them, those that there are.

    `ring_share` is what a rank sends in a ring over the size of its buffer, `phase_share` the part of it that textbooks
    print, which is that of one phase of two. From `crossover_bytes` on a ring is faster than a tree that sends the
    whole buffer in every step, from `crossover_pipelined_bytes` on faster than a double tree that sends it in pieces.
    With a GPU, `predicted_s` is its time there and `protocols` what NCCL takes itself to need, the fastest first.
    """

    bytes: float
    ranks: int
    nodes: int
    latency_s: float
    bandwidth: float
    network_latency_s: float | None
    network_bandwidth: float | None
    ring_steps: int
    tree_steps: int
    ring_share: float
    phase_share: float
    times: Mapping[str, float]
    fastest: str
    crossover_bytes: float
    crossover_pipelined_bytes: float
    ring_busbw: float
    link: str | None
    predicted_s: float | None
    protocols: tuple[Protocol, ...]
    measured: tuple[Measured, ...]
    why: tuple[str, ...]
    advice: tuple[str, ...]
    assumptions: tuple[str, ...]


def allreduce(
    *,
    bytes: float,
    ranks: int,
    latency_s: float | None = None,
    bandwidth: float | None = None,
    nodes: int | None = None,
    network_latency_s: float | None = None,
    network_bandwidth: float | None = None,
    gpu: GPU | None = None,
    link: str | None = None,
    network: str | None = None,
    busbw: tuple[float, ...] = (),
) -> AllReduce:
    """Times of an all-reduce of `bytes` of each of `ranks`, evenly on `nodes`; rates are of a rank, in one direction.

    What is not given of latencies and rates is that of the GPU's link. `busbw` are bandwidths as nccl-tests printed
    them: what they put on the wire is found for a ring and for a reduction in the switch.

    Raises:
        FieldError: a field is out of range, or latency or bandwidth are given neither themselves nor by a GPU.
        PerfError: there is no such link, or the GPU has none.
    """
    call = Collective(operation=ALL_REDUCE, bytes=bytes, ranks=ranks, nodes=nodes, link=link, network=network)
    if gpu is None and (link or network):
        raise FieldError("gpu: none given; right would be --gpu NAME, whose link and network these are")
    there = None if gpu is None else on_gpu(call, gpu)
    given = {
        "latency_s": latency_s,
        "bandwidth": bandwidth,
        "network_latency_s": network_latency_s,
        "network_bandwidth": network_bandwidth,
    }
    count = there.place.nodes if there else call.nodes or 1
    _check_between(count, network=network, **{name: given[name] for name in given if name.startswith(_BETWEEN)})
    one = message(call.bytes, call.ranks, count, _hops(count, there, given))
    rate = bandwidth or (there.link_bytes_per_s if there else one.hops.bandwidth)
    in_switch = there is None or there.place.link.in_switch_reduction
    return _answer(one, there, _narrow(call, gpu, there), wire.measured(one.ranks, rate, in_switch, busbw))


def _check_between(nodes: int, **given: Any) -> None:
    """Checks that nothing is said of what joins nodes where there is one.

    Raises:
        FieldError: something is.
    """
    for name, value in given.items():
        if value is not None and nodes == 1:
            raise FieldError(
                f"{name} joins nodes, and all ranks are on one; right would be nodes of 2 or more, or none"
            )


_BETWEEN = "network"  # how the names of fields begin that are of what joins nodes
_EXAMPLES = {"latency_s": "5us", "bandwidth": "100GB/s", "network_latency_s": "10us", "network_bandwidth": "25GB/s"}


def _hops(nodes: int, there: OnGpu | None, given: Mapping[str, float | None]) -> Hops:
    """The links: what was given of them, else those of the GPU.

    Raises:
        FieldError: neither says so.
    """
    found: dict[str, Any] = {}
    for name, example in _EXAMPLES.items():
        value, known = given[name], None if there is None else getattr(there.hops, name)
        if value is not None:
            positive(**{name: value})
        elif known is None and (nodes > 1 or not name.startswith(_BETWEEN)):
            option = f"--{name.replace('_', '-')} {example}"
            raise FieldError(f"{name}: none given; right would be {option}, or --gpu NAME, whose links are known")
        found[name] = known if value is None else value
    if nodes == 1:
        found |= {"network_latency_s": None, "network_bandwidth": None}
    return Hops(**found)


def _narrow(call: Collective, gpu: GPU | None, there: OnGpu | None) -> tuple[str, Message] | None:
    """As many ranks as the GPU's fast link joins, where there are more and the rest is reached by a slower one."""
    if gpu is None or there is None:
        return None
    fast = catalog.within(call.link) if call.link else catalog.default_link(gpu)
    if fast.key == there.place.link.key or fast.max_ranks < 2:
        return None
    few = on_gpu(replace(call, ranks=fast.max_ranks, nodes=1), gpu)
    return fast.key, message(call.bytes, fast.max_ranks, 1, few.hops)


def _answer(
    one: Message, there: OnGpu | None, narrow: tuple[str, Message] | None, found: tuple[Measured, ...]
) -> AllReduce:
    alpha, rate = one.hops.slowest
    why = [*words.why(one), *map(wire.why, found)]
    advice = [*words.advice(one), *([wire.compared(found)] if len(found) > 1 else [])]
    if there is not None:
        why = [*words.why_there(there, one), *why]
    if narrow is not None:
        advice.insert(0, words.advice_narrow(one, narrow[1], narrow[0]))
    return AllReduce(
        bytes=one.size,
        ranks=one.ranks,
        nodes=one.nodes,
        latency_s=one.hops.latency_s,
        bandwidth=one.hops.bandwidth,
        network_latency_s=one.hops.network_latency_s,
        network_bandwidth=one.hops.network_bandwidth,
        ring_steps=2 * (one.ranks - 1),
        tree_steps=2 * tree_levels(one.ranks),
        ring_share=wire_share(ALL_REDUCE, RING, one.ranks),
        phase_share=wire_share("reduce_scatter", RING, one.ranks),
        times=one.times,
        fastest=one.fastest,
        crossover_bytes=crossover_bytes(one.ranks, alpha, rate),
        crossover_pipelined_bytes=crossover_pipelined_bytes(one.ranks, alpha, rate),
        ring_busbw=one.ring_busbw,
        link=None if there is None else there.place.link.key,
        predicted_s=None if there is None else there.time_s,
        protocols=() if there is None else there.protocols,
        measured=found,
        why=tuple(why),
        advice=tuple(advice),
        assumptions=() if there is None else there.assumptions,
    )
