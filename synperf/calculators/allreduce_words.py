"""Why an all-reduce takes as long as it does, and what would make it shorter, each computed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ..collectives.algorithms import ALL_REDUCE, wire_share
from ..collectives.alpha_beta import crossover_bytes, crossover_pipelined_bytes, tree_levels
from ..collectives.bandwidth import bus_bytes_per_s
from ..units import format_percent, format_quantity, format_time
from .allreduce_hops import OnGpu
from .allreduce_times import RING, RING_ALL_PORTS, Hops, times

_NOTABLE = 0.98  # of a time, below which another is worth a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """So many bytes of each of so many ranks on nodes with these links, and its times by algorithm."""

    size: float
    ranks: int
    nodes: int
    hops: Hops
    times: Mapping[str, float]

    @property
    def fastest(self) -> str:
        """The algorithm with the least time."""
        return min(self.times, key=self.times.__getitem__)

    @property
    def ring_busbw(self) -> float:
        """The bus bandwidth that a ring shows, on several nodes through all ports."""
        time_s = self.times.get(RING_ALL_PORTS, self.times[RING])
        return float(bus_bytes_per_s(ALL_REDUCE, self.size, self.ranks, time_s))

    def at(self, size: float, hops: Hops) -> float:
        """The time of the fastest algorithm for another size, or on other links."""
        return times(size, self.ranks, self.nodes, hops)[self.fastest]


def message(size: float, ranks: int, nodes: int, hops: Hops) -> Message:
    """A message with its times."""
    return Message(size=size, ranks=ranks, nodes=nodes, hops=hops, times=times(size, ranks, nodes, hops))


def why(one: Message) -> Iterator[str]:
    """The ring in numbers, the factor of textbooks, and where trees win."""
    (alpha, rate), steps = one.hops.slowest, 2 * (one.ranks - 1)
    share = wire_share(ALL_REDUCE, RING, one.ranks)
    yield (
        f"ring: {steps} steps of {format_time(alpha)} are {format_time(steps * alpha)}, and {share:.4g} x "
        f"{_bytes(one.size)} over {_bytes(rate)}/s are {format_time(share * one.size / rate)}"
    )
    yield (
        f"the (n-1)/n = {(one.ranks - 1) / one.ranks:.4g} of textbooks is one phase of two, reduce-scatter and "
        f"all-gather: a rank sends {share:.4g} of its buffer"
    )
    tree, pipelined = crossover_bytes(one.ranks, alpha, rate), crossover_pipelined_bytes(one.ranks, alpha, rate)
    yield (
        f"tree: {2 * tree_levels(one.ranks)} steps with the whole buffer in each are {_until(tree)}; pipelined over "
        f"two trees, {_until(pipelined)}"
    )
    if one.nodes > 1:
        yield (
            f"{one.nodes} nodes: one flat ring goes at the pace of its slowest hop, {_bytes(rate)}/s; in levels only "
            f"1/{one.ranks // one.nodes} of the buffer crosses between nodes for each rank"
        )


def why_there(there: OnGpu, one: Message) -> Iterator[str]:
    """What the links reach, and what was chosen or measured there."""
    link, first = there.place.link, there.protocols[0]
    yield from (
        f"bottleneck: {said.removeprefix('link: ')}; the slowest hop sets the pace of a ring"
        for said in there.place.assumptions
        if " joins " in said
    )
    reached = format_percent(link.efficiency)
    yield (
        f"{link.key}: {_bytes(there.link_bytes_per_s)}/s, of which long messages reach {reached}; with them a ring "
        f"shows a busbw of {_bytes(one.ring_busbw)}/s"
    )
    yield (
        f"NCCL's own model takes {first.algorithm} with {first.protocol} to be the fastest, {format_time(first.time_s)}"
        f"; synperf predicts {format_time(there.time_s)} ({format_time(there.low_s)} to {format_time(there.high_s)})"
    )


def advice(one: Message) -> Iterator[str]:
    """A faster algorithm, if there is one, and what of latency and bandwidth there is to win."""
    best, now = one.fastest, one.times[one.fastest]
    if now < _NOTABLE * one.times[RING]:
        ring = format_time(one.times[RING])
        yield f"{best.replace('_', ' ')} instead of a ring: {format_time(now)} instead of {ring}"
    quick, wide = one.at(one.size, _scaled(one.hops, 0.5, 1.0)), one.at(one.size, _scaled(one.hops, 1.0, 2.0))
    if quick < wide:
        both = one.at(2 * one.size, one.hops)
        yield f"latency rules: two such messages as one take {format_time(both)} instead of {format_time(2 * now)}"
    else:
        yield f"bandwidth rules: half the bytes (a narrower format) take {format_time(one.at(one.size / 2, one.hops))}"
    yield f"half the latency brings {format_time(quick)}, twice the bandwidth {format_time(wide)}"


def advice_narrow(one: Message, narrow: Message, link: str) -> str:
    """What as many ranks take as the fast link joins."""
    slower = one.times[RING] / narrow.times[RING]
    return (
        f"no setting of {one.ranks} ranks avoids the slow hop; {narrow.ranks} ranks stay on {link}: a ring of them "
        f"takes {format_time(narrow.times[RING])}, {slower:.1f} times faster, busbw {_bytes(narrow.ring_busbw)}/s"
    )


def _until(size: float) -> str:
    return f"faster than a ring up to {_bytes(size)}" if size else "never faster than a ring"


def _scaled(hops: Hops, latency: float, bandwidth: float) -> Hops:
    scaled = replace(hops, latency_s=hops.latency_s * latency, bandwidth=hops.bandwidth * bandwidth)
    if hops.network_latency_s is None or hops.network_bandwidth is None:
        return scaled
    return replace(
        scaled,
        network_latency_s=hops.network_latency_s * latency,
        network_bandwidth=hops.network_bandwidth * bandwidth,
    )


def _bytes(value: float) -> str:
    return format_quantity(value, "B")
