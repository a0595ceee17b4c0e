"""How long a collective takes: from the curve of its library and link, else from NCCL's own model of itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..estimators import Estimate
from ..hardware import GPU
from ..kernels.base import num_calls
from ..version import VERSION
from . import records, tuning
from .algorithms import Term, experts_reached, ranks_reached
from .call import Collective
from .curves import Curve, Interval, fastest
from .place import Place, place

LEARNED, ANALYTICAL = "learned", "analytical"
ORIGINS = (LEARNED, ANALYTICAL)
LATENCY, LINK, NETWORK = "latency", "link", "network"
_NETWORK_WIDTH = 1.6  # nobody measured NCCL between named networks here: half and twice hold what is published


def estimate(call: Collective, gpu: GPU, origin: str | None = None) -> Estimate:
    """The time of one message, or of each of columns of them.

    Raises:
        UnknownNameError: no such link or network.
        FieldError: no such engine or kernel; ranks do not fit on the nodes; no network between them is named.
        UnsupportedError: nothing is known of the GPU's links, the operation has no such algorithm or protocol, or the
            origin that is asked for does not know it.
    """
    size = num_calls(call)
    if size is None:
        return _single(
            _of_shape(call, gpu, origin, int(call.ranks), call.nodes, call.topk, np.array([float(call.bytes)]))
        )
    return Estimate.gather(
        [
            (rows, _of_shape(call, gpu, origin, ranks, nodes, topk, sizes))
            for rows, ranks, nodes, topk, sizes in _shapes(call, size)
        ]
    )


def _shapes(call: Collective, size: int) -> Iterator[tuple[np.ndarray, int, int | None, int | None, np.ndarray]]:
    """Every number of ranks, nodes and experts of columns, with its rows and their sizes."""
    sizes = np.broadcast_to(np.asarray(call.bytes, dtype=float), size)
    shape = [np.broadcast_to(np.asarray(-1.0 if v is None else v), size) for v in (call.ranks, call.nodes, call.topk)]
    keys, which = np.unique(np.stack(shape), axis=1, return_inverse=True) if _varies(shape) else (None, None)
    if keys is None:
        ranks, nodes, topk = (float(column[0]) for column in shape)
        yield np.arange(size), int(ranks), _given(nodes), _given(topk), sizes
        return
    for index, (ranks, nodes, topk) in enumerate(keys.T.tolist()):
        rows = np.flatnonzero(which.reshape(-1) == index)
        yield rows, int(ranks), _given(nodes), _given(topk), sizes[rows]


def _varies(shape: Sequence[np.ndarray]) -> bool:
    return any((column != column[0]).any() for column in shape)


def _given(value: float) -> int | None:
    return None if value < 0 else int(value)


def _of_shape(
    call: Collective, gpu: GPU, origin: str | None, ranks: int, nodes: int | None, topk: int | None, sizes: np.ndarray
) -> Estimate:
    where = place(call, gpu, ranks, nodes)
    floor_s = where.least_s_per_byte(call.operation) * _least_volume(sizes, topk, where)
    curve = None if origin == ANALYTICAL else _curve(call, gpu, where)
    if curve is not None:
        return _learned(call, where, curve, _volume(sizes, topk, ranks, curve.copies), floor_s)
    if origin == LEARNED:
        raise UnsupportedError(f"origin: no {call.operation} of {gpu.key} on {where.link.key} was measured")
    return _analytical(call, where, _volume(sizes, topk, ranks, "rank"), floor_s)


def _least_volume(sizes: np.ndarray, topk: int | None, where: Place) -> np.ndarray:
    """What a rank has to send at least: between nodes, a token goes once to each node."""
    return _volume(sizes, topk, where.nodes if where.network is not None else where.ranks, "rank")


def _volume(sizes: np.ndarray, topk: int | None, ranks: int, copies: str) -> np.ndarray:
    """What the sizes of an operation are counted in; of expert layers, all copies of the tokens."""
    if topk is None:
        return sizes
    return sizes * (experts_reached if copies == "expert" else ranks_reached)(topk, ranks)


def _curve(call: Collective, gpu: GPU, where: Place) -> Curve | None:
    """The curve that answers: of the first kernel that was measured; none where one algorithm is asked for."""
    pairs = records.kernels(call.operation, call.engine, call.kernel)
    if call.algorithm is not None or call.protocol is not None:
        return None
    between = "" if where.network is None else where.network.key
    found = (records.find(gpu.key, call.operation, call.dtype, where.link.key, between, pair) for pair in pairs)
    return next(filter(None, found), None)


def _learned(call: Collective, where: Place, curve: Curve, volume: np.ndarray, floor_s: np.ndarray) -> Estimate:
    shape = curve.shapes.get((where.ranks, where.nodes))
    time_s = np.maximum(curve.time_s(volume, where.ranks, where.nodes), floor_s)
    _, _, latency_s = fastest(curve.terms, call.operation, volume, where.ranks, where.nodes)
    interval = curve.known if shape is not None else curve.other_ranks
    said = () if curve.dtype == str(call.dtype) else (f"dtype: {curve.dtype} stands for {call.dtype}, as it moves",)
    if curve.kernel == "nccl_eager":
        said += (f"kernel: NCCL as {curve.version} timed it, launch by launch; ranks may have waited for each other",)
    ends = shape or curve.corrections[0]
    outside = _outside(volume, shape is None, min(ends.low_bytes, ends.high_bytes), ends.high_bytes)
    return _made(
        call, where, curve.engine, curve.kernel, LEARNED, time_s, interval, floor_s, latency_s / time_s > 0.5,
        outside=outside, said=said, versions={curve.kernel: curve.version},
    )  # fmt: skip


def _outside(volume: np.ndarray, is_other: bool, low: float, high: float) -> list[tuple[str, ...]]:
    """What is beyond measured messages, row by row."""
    of_ranks = ("ranks",) if is_other else ()
    both = ("bytes", *of_ranks)
    beyond = (volume < low) | (volume > high)
    return [both if one else of_ranks for one in beyond.tolist()]


def _analytical(call: Collective, where: Place, volume: np.ndarray, floor_s: np.ndarray) -> Estimate:
    terms = _wanted(call, tuning.terms(call.operation, where))
    fast_s, _, latency_s = fastest(terms, call.operation, volume, where.ranks, where.nodes)
    time_s = np.maximum(fast_s, floor_s)
    spread = records.intervals().nccl
    interval = spread if where.network is None else Interval(low=1 / _NETWORK_WIDTH, high=_NETWORK_WIDTH)
    said = (f"kernel: nobody measured {call.operation} there, so NCCL's own model of its algorithms answers",)
    if call.algorithm is not None or call.protocol is not None:
        said = ("algorithm: one alone is NCCL's own model of it",)
    return _made(
        call, where, "nccl", "nccl", ANALYTICAL, time_s, interval, floor_s, latency_s / time_s > 0.5,
        outside=[()] * len(volume), said=said, versions={"nccl_tuning": tuning.version()},
    )  # fmt: skip


def _wanted(call: Collective, terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """The terms of the algorithm and protocol that are asked for.

    Raises:
        UnsupportedError: there are none.
    """
    for name in ("algorithm", "protocol"):
        asked = getattr(call, name)
        known = sorted({getattr(term, name) for term in terms})
        if asked is not None and asked not in known:
            raise UnsupportedError(f"{name}: {call.operation} there has {', '.join(known)}, got {asked!r}")
    kept = tuple(
        term for term in terms if call.algorithm in (None, term.algorithm) and call.protocol in (None, term.protocol)
    )
    if not kept:
        raise UnsupportedError(f"protocol: {call.algorithm} has no {call.protocol} there")
    return kept


def _made(
    call: Collective, where: Place, engine: str, kernel: str, origin: str, time_s: np.ndarray, interval: Interval,
    floor_s: np.ndarray, is_latency: np.ndarray, *, outside: list[tuple[str, ...]], said: tuple[str, ...],
    versions: dict[str, str],
) -> Estimate:  # fmt: skip
    narrow = NETWORK if where.network is not None else LINK
    return Estimate(
        family=call.operation,
        gpu=where.gpu.key,
        engine=engine,
        kernel=kernel,
        time_s=time_s,
        low_s=np.maximum(time_s * interval.low, floor_s),
        high_s=time_s * interval.high,
        floor_s=floor_s,
        efficiency=floor_s / time_s,
        limiter=np.where(is_latency, LATENCY, narrow).astype(object),
        origin=origin,
        extrapolating=np.array([bool(names) for names in outside]),
        outside=outside,
        assumptions=where.gpu.assumptions + where.assumptions + said,
        versions={"synperf": VERSION, **versions},
    )


def _single(e: Estimate) -> Estimate:
    """The first row of a column estimate, as that of one call."""
    columns = ("time_s", "low_s", "high_s", "floor_s", "efficiency")
    values: dict[str, Any] = {name: float(getattr(e, name)[0]) for name in columns}
    outside: Sequence[tuple[str, ...]] = e.outside  # one per row
    return Estimate(
        family=e.family, gpu=e.gpu, engine=e.engine, kernel=e.kernel, origin=e.origin, assumptions=e.assumptions,
        versions=e.versions, limiter=str(e.limiter[0]), extrapolating=bool(outside[0]), outside=tuple(outside[0]),
        **values,
    )  # fmt: skip
