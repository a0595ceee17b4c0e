"""Collectives across ranks: who arrived last, what the others lost by it, and how fast the transfer itself was.

The i-th collective of a process group is the same one on every rank; where groups are not recorded, the i-th of all.
All ranks end a collective together, so a kernel that lasts longer has waited longer: the rank with the shortest one is
late. The transfer is from the last arrival to the last end; bandwidths are over that time alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

import numpy as np

from ..light_classes import dataclass
from ..traces.events import Caution, Events, Trace, aligned
from .finding import Finding, told
from .work import devices

_ELEMENT_BYTES = {
    "byte": 1, "char": 1, "int8": 1, "uint8": 1, "bool": 1, "float8_e4m3fn": 1, "float8_e5m2": 1, "half": 2,
    "float16": 2, "bfloat16": 2, "short": 2, "int": 4, "int32": 4, "float": 4, "float32": 4, "long": 8, "int64": 8,
    "double": 8,
}  # fmt: skip
_OPERATIONS = (
    ("all_reduce", ("allreduce", "all_reduce")),
    ("reduce_scatter", ("reducescatter", "reduce_scatter")),
    ("all_gather", ("allgather", "all_gather")),
    ("all_to_all", ("alltoall", "all_to_all", "sendrecv")),  # PyTorch makes an all-to-all of sends and receives
    ("broadcast", ("broadcast",)),
)
_SKEW = 0.2  # of a collective's duration: ends further apart say that the clocks of ranks disagree
_SKEW_NS = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One rank at one collective; `offset_ns` is after the first to arrive, `waited_ns` until the last."""

    rank: int
    offset_ns: int
    waited_ns: int
    dur_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Collective:
    """One collective. `spread_ns` is from the first arrival to the last, `alone_ns` from the last but one to the last.

    `transfer_ns` is from the last arrival to the last end, `end_skew_ns` between the first and the last end. Bytes and
    bandwidths are None where the trace does not say how much was moved, or has not all ranks.
    """

    name: str
    group: str
    start_ns: int
    spread_ns: int
    alone_ns: int
    transfer_ns: int
    end_skew_ns: int
    last_rank: int
    bytes: int | None
    algbw_bytes_per_s: float | None
    busbw_bytes_per_s: float | None
    arrivals: tuple[Arrival, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """How often one rank was the last. `others_waited_ns` is the sum over the others, `delay_ns` over `alone_ns`."""

    rank: int
    times_last: int
    delay_ns: int
    others_waited_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Across:
    """The collectives that all ranks have, the ranks that were last, and what could not be matched."""

    collectives: tuple[Collective, ...]
    late: tuple[Late, ...]
    cautions: tuple[Caution, ...]


def across(traces: Sequence[Trace]) -> Across | None:
    """Matches the collectives of several ranks; None where there are not two ranks that have some."""
    ranks = {trace.rank: sequences(trace) for trace in traces if trace.rank is not None}
    ranks = {rank: found for rank, found in ranks.items() if found}
    if len(ranks) < 2:
        return None
    if any(len(set(found) & {_NO_GROUP}) for found in ranks.values()):
        ranks = {rank: {_NO_GROUP: sorted(chain(*found.values()))} for rank, found in ranks.items()}
    works = {trace.rank: trace.events for trace in traces}
    made, unmatched = [], 0
    for group in sorted({group for found in ranks.values() for group in found}):
        here = {rank: found[group] for rank, found in sorted(ranks.items()) if group in found}
        if len(here) < 2:
            continue
        shortest = min(map(len, here.values()))
        unmatched += sum(map(len, here.values())) - shortest * len(here)
        made += [_collective(group, {r: (works[r], rows[i]) for r, rows in here.items()}) for i in range(shortest)]
    made.sort(key=lambda one: one.start_ns)
    return Across(collectives=tuple(made), late=_late(made), cautions=tuple(_cautions(made, unmatched)))


_NO_GROUP = ""


def sequences(trace: Trace) -> dict[str, list[int]]:
    """Rows of the collectives of a rank, in order of start, by process group; without one, that of no name."""
    events = trace.events
    rows = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *(work.collectives for work in devices(trace))]))
    group = aligned(events.messages, "group", rows)
    found: dict[str, list[int]] = defaultdict(list)
    for row, name in zip(rows.tolist(), group.tolist(), strict=True):
        found[events.names[name] if name >= 0 else _NO_GROUP].append(row)
    return dict(found)


def _collective(group: str, of_ranks: dict[int, tuple[Events, int]]) -> Collective:
    start = np.array([events.start_ns[row] for events, row in of_ranks.values()])
    dur = np.array([events.dur_ns[row] for events, row in of_ranks.values()])
    end, ranks = start + dur, list(of_ranks)
    last, order = int(start.max()), np.sort(start)
    transfer = int(end.max()) - last
    name = next(events.text(row) for events, row in of_ranks.values())
    size = _bytes(of_ranks)
    algbw, busbw = _bandwidths(_operation(name), size, len(ranks), transfer)
    arrivals = tuple(
        Arrival(rank=rank, offset_ns=int(s - start.min()), waited_ns=last - int(s), dur_ns=int(d))
        for rank, s, d in zip(ranks, start, dur, strict=True)
    )
    return Collective(
        name=name,
        group=group,
        start_ns=int(start.min()),
        spread_ns=last - int(start.min()),
        alone_ns=last - int(order[-2]),
        transfer_ns=transfer,
        end_skew_ns=int(end.max() - end.min()),
        last_rank=ranks[int(start.argmax())],
        bytes=size,
        algbw_bytes_per_s=algbw,
        busbw_bytes_per_s=busbw,
        arrivals=arrivals,
    )


def _bandwidths(operation: str, size: int | None, ranks: int, transfer_ns: int) -> tuple[float | None, float | None]:
    if not operation or not size or transfer_ns <= 0:
        return None, None
    from ..collectives import bandwidth  # traces that do not say what was moved need none of it

    time_s = transfer_ns / 1e9
    bus = bandwidth.bus_bytes_per_s(operation, size, ranks, time_s)
    return float(bandwidth.algorithm_bytes_per_s(size, time_s)), float(bus)


def _bytes(of_ranks: dict[int, tuple[Events, int]]) -> int | None:
    """The larger of what goes in and comes out, which is nccl-tests' size; None where a rank is missing or unknown."""
    sizes = []
    for events, row in of_ranks.values():
        place = np.array([row])
        width = _ELEMENT_BYTES.get(events.names[int(aligned(events.messages, "dtype", place)[0])].lower())
        elements = max(int(aligned(events.messages, name, place)[0]) for name in ("in_elements", "out_elements"))
        if width is None or elements < 0 or int(aligned(events.messages, "group_size", place)[0]) != len(of_ranks):
            return None
        sizes.append(width * elements)
    return max(sizes)


def _operation(name: str) -> str:
    """The operation by the kernel's name, as `collectives.bandwidth` calls it; empty where that is not known."""
    flat = name.lower()
    return next((operation for operation, signs in _OPERATIONS if any(sign in flat for sign in signs)), "")


def _late(made: Sequence[Collective]) -> tuple[Late, ...]:
    """Every rank that was last, the one that was so most often first."""
    found = []
    for rank in sorted({one.last_rank for one in made}):
        last = [one for one in made if one.last_rank == rank]
        waited = sum(arrival.waited_ns for one in last for arrival in one.arrivals)
        found.append(
            Late(rank=rank, times_last=len(last), delay_ns=sum(o.alone_ns for o in last), others_waited_ns=waited)
        )
    return tuple(sorted(found, key=lambda one: (-one.times_last, -one.others_waited_ns)))


def _cautions(made: Sequence[Collective], unmatched: int) -> list[Caution]:
    found = []
    if unmatched:
        found.append(Caution(text="collectives are not on all ranks of their group", count=unmatched))
    longest = [max(arrival.dur_ns for arrival in one.arrivals) for one in made]
    apart = [one for one, dur in zip(made, longest, strict=True) if one.end_skew_ns > max(_SKEW * dur, _SKEW_NS)]
    if apart:
        text = "collectives do not end together: clocks of ranks disagree, or they are not the same ones"
        found.append(Caution(text=text, count=len(apart), share=len(apart) / len(made)))
    return found


def findings(found: Across) -> list[Finding]:
    """The rank that is late most often, and what it cost the others."""
    if not found.late or found.late[0].times_last < 2:
        return []
    late, whole = found.late[0], len(found.collectives)
    last = [one for one in found.collectives if one.last_rank == late.rank]
    return [
        Finding(
            title=f"Rank {late.rank} is late",
            evidence=f"it is the last to arrive at {late.times_last} of {whole} collectives; the other ranks wait"
            f" {told(late.others_waited_ns)} in all, {told(late.delay_ns)} of them for it alone",
            advice="See what this rank does before its collectives: more data, a slower GPU or host, or work that the"
            " others have not. A long communication kernel on the other ranks is the waiting, not the cause.",
            saving_ns=late.delay_ns,
            rank=late.rank,
            ranges=tuple((one.start_ns, one.start_ns + one.spread_ns) for one in last),
        )
    ]
