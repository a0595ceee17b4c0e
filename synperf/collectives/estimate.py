"""How long a collective takes: from the curve of its library and link, else from NCCL's own model of itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..estimators import Estimate
from ..hardware import GPU
from ..kernels.base import num_calls
from ..version import VERSION
from . import records, tuning
from .algorithms import Term, experts_reached, ranks_reached
from .call import MOST_RANKS, Collective
from .curves import Curve, Interval, fastest
from .place import Place, place

LEARNED, ANALYTICAL = "learned", "analytical"
ORIGINS = (LEARNED, ANALYTICAL)
LATENCY, LINK, NETWORK = "latency", "link", "network"
EAGER = "nccl_eager"
_COLUMNS = ("time_s", "low_s", "high_s", "floor_s", "efficiency", "extrapolating")
_CODE = MOST_RANKS + 1
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
            _of_shape(call, gpu, origin, call.ranks, call.nodes, call.topk, np.array([call.bytes], dtype=float))
        )
    parts = [(rows, _of_shape(call, gpu, origin, *shape)) for rows, *shape in _shapes(call, size)]
    return parts[0][1] if len(parts) == 1 else Estimate.gather(parts)


def _shapes(call: Collective, size: int) -> Iterator[tuple[Any, ...]]:
    """Every number of ranks, nodes and experts of columns: its rows, the three, and the sizes."""
    sizes = np.broadcast_to(np.asarray(call.bytes, dtype=float), size)
    shape = [np.asarray(0.0 if v is None else v, dtype=float) for v in (call.ranks, call.nodes, call.topk)]
    if all(not column.ndim for column in shape):
        yield slice(None), *map(_given, map(float, shape)), sizes
        return
    codes = np.broadcast_to((shape[0] * _CODE + shape[1]) * _CODE + shape[2], size)
    for code in np.unique(codes).tolist():
        rest, topk = divmod(code, _CODE)
        ranks, nodes = divmod(rest, _CODE)
        rows = np.flatnonzero(codes == code)
        yield rows, *map(_given, (ranks, nodes, topk)), sizes[rows]


def _given(value: float) -> int | None:
    return int(value) or None


def _of_shape(
    call: Collective, gpu: GPU, origin: str | None, ranks: int, nodes: int | None, topk: int | None, sizes: np.ndarray
) -> Estimate:
    where = place(call, gpu, ranks, nodes)
    floor_s = where.least_s_per_byte(call.operation) * _least_volume(sizes, topk, where)
    curve = _curve(call, gpu, where)
    if curve is not None and origin != ANALYTICAL:
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
    between = "" if where.network is None else where.network.key
    found = records.find(gpu.key, call.operation, call.dtype, where.link.key, between, call.engine, call.kernel)
    return found if call.algorithm is None and call.protocol is None else None


def _learned(call: Collective, where: Place, curve: Curve, volume: np.ndarray, floor_s: np.ndarray) -> Estimate:
    shape = curve.shapes.get((where.ranks, where.nodes))
    fast_s, _, latency_s = fastest(curve.terms, call.operation, volume, where.ranks, where.nodes)
    time_s = np.maximum(curve.corrected_s(fast_s, where.ranks, where.nodes), floor_s)
    interval = curve.known if shape is not None else curve.other_ranks
    said: tuple[str, ...] = ()
    if curve.dtype != str(call.dtype):
        said += (f"dtype: {curve.dtype} stands for {call.dtype}, as it moves",)
    if curve.kernel == EAGER:
        said += (f"kernel: NCCL as {curve.version} timed it, launch by launch; ranks may have waited for each other",)
    ends = shape or curve.corrections[0]
    beyond = (volume < ends.low_bytes) | (volume > ends.high_bytes)
    return _made(
        call, where, curve.engine, curve.kernel, LEARNED, time_s, interval, floor_s, latency_s / fast_s,
        is_outside=beyond, is_other=shape is None, said=said, versions={curve.kernel: curve.version},
    )  # fmt: skip


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
        call, where, "nccl", "nccl", ANALYTICAL, time_s, interval, floor_s, latency_s / fast_s,
        is_outside=np.zeros(len(volume), dtype=bool), is_other=False, said=said,
        versions={"nccl_tuning": tuning.version()},
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
    floor_s: np.ndarray, latency_share: np.ndarray, *, is_outside: np.ndarray, is_other: bool, said: tuple[str, ...],
    versions: dict[str, str],
) -> Estimate:  # fmt: skip
    limiters = np.array([LINK if where.network is None else NETWORK, LATENCY], dtype=object)
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
        limiter=limiters[(latency_share > 0.5).astype(np.intp)],
        origin=origin,
        extrapolating=is_outside | is_other,
        outside=_outside(is_outside, is_other),
        assumptions=where.gpu.assumptions + where.assumptions + said,
        versions={"synperf": VERSION, **versions},
    )


def _outside(is_outside: np.ndarray, is_other: bool) -> list[tuple[str, ...]]:
    """What is beyond measured messages, row by row."""
    inside: tuple[str, ...] = ("ranks",) if is_other else ()
    if not is_outside.any():
        return [inside] * len(is_outside)
    names = (inside, ("bytes", *inside))
    return [names[one] for one in is_outside.tolist()]


def _single(e: Estimate) -> Estimate:
    """The first row of a column estimate, as that of one call."""
    values = {name: getattr(e, name)[0].item() for name in _COLUMNS}
    assert isinstance(e.outside, list)  # one per row
    return replace(e, **values, limiter=str(e.limiter[0]), outside=e.outside[0])
