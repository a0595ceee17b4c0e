"""What a bus bandwidth, as nccl-tests prints it, puts on the wire: it depends on who adds.

Sources: NVIDIA/nccl-tests, doc/PERFORMANCE.md, #212 and #239; NVIDIA/nccl#1374.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..collectives.algorithms import ALL_REDUCE, NVLS, RING, wire_share
from ..collectives.bandwidth import bus_share
from ..units import format_percent, format_quantity
from .amounts import all_positive

_ROUNDED = 1.005  # printed rates have three digits


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """Bytes per second that cross a rank's link in one direction by one algorithm, and their share of its rate.

    `is_possible` says whether no more crosses the link than it carries; `share` is of the buffer.
    """

    algorithm: str
    share: float
    bytes_per_s: float
    of_link: float
    is_possible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One printed bandwidth, and what crosses the wire if a ring made it or, where there is such a switch, a switch."""

    busbw: float
    algbw: float
    bus_share: float
    link_bytes_per_s: float
    wires: tuple[Wire, ...]


def measured(ranks: int, link_bytes_per_s: float, in_switch: bool, busbw: tuple[float, ...]) -> tuple[Measured, ...]:
    """What each of the printed bandwidths comes to.

    Raises:
        FieldError: one is not above 0.
    """
    if busbw:
        all_positive("busbw", busbw)
    return tuple(_one(ranks, link_bytes_per_s, in_switch, one) for one in busbw)


def _one(ranks: int, link: float, in_switch: bool, busbw: float) -> Measured:
    share = bus_share(ALL_REDUCE, ranks)
    wires = tuple(_wire(name, ranks, link, busbw / share) for name in ((RING, NVLS) if in_switch else (RING,)))
    return Measured(busbw=busbw, algbw=busbw / share, bus_share=share, link_bytes_per_s=link, wires=wires)


def _wire(algorithm: str, ranks: int, link: float, algbw: float) -> Wire:
    share = wire_share(ALL_REDUCE, algorithm, ranks)
    rate = share * algbw
    return Wire(
        algorithm=algorithm, share=share, bytes_per_s=rate, of_link=rate / link, is_possible=rate <= _ROUNDED * link
    )


def why(one: Measured) -> str:
    """Why this bandwidth is no error, or is one."""
    ring, *switch = one.wires
    head = f"busbw {_rate(one.busbw)} is algbw {_rate(one.algbw)} x {one.bus_share:.4g}, whatever the algorithm"
    if ring.is_possible:
        return f"{head}; a ring puts {_crossing(ring, one)}" + "".join(
            f"; a switch that adds, {_short(w)}" for w in switch
        )
    if switch and switch[0].is_possible:
        return (
            f"{head}; above the link's {_rate(one.link_bytes_per_s)}, and no error: the switch added, and only "
            f"(n+1)/n = {switch[0].share:.4g} of the buffer crossed the link, {_crossing(switch[0], one)}"
        )
    return f"{head}; ERROR: more than the link's {_rate(one.link_bytes_per_s)} carry; rate, link or ranks are not those"


def compared(found: tuple[Measured, ...]) -> str:
    """How much faster the fastest printed bandwidth is than the slowest, and which of them uses its link better."""
    low, high = min(found, key=lambda one: one.busbw), max(found, key=lambda one: one.busbw)
    first, second = (next((w for w in one.wires if w.is_possible), one.wires[0]) for one in (low, high))
    used = "less" if second.of_link < first.of_link else "more"
    return (
        f"busbw {_rate(high.busbw)} is {high.busbw / low.busbw:.2f} times as fast as {_rate(low.busbw)}, and the link "
        f"is used {used}: {format_percent(second.of_link)} against {format_percent(first.of_link)}"
    )


def _crossing(wire: Wire, one: Measured) -> str:
    link = _rate(one.link_bytes_per_s)
    return f"{_rate(wire.bytes_per_s)} on the wire, {format_percent(wire.of_link)} of {link}"


def _short(wire: Wire) -> str:
    return f"{_rate(wire.bytes_per_s)} ({format_percent(wire.of_link)})"


def _rate(value: float) -> str:
    return format_quantity(value, "B/s")
