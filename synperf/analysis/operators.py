"""Operators of the framework: how often, how long on the host and on the device, what they compute and move.

A kernel belongs to the innermost operator in which the host launched it. Own times are without what is called; totals
are with it, and of an operator that calls itself only the outer one counts. Work is by operator_formulas.py, of one run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..hardware import GPU
from ..traces.events import GPU_WORK, Column, Kind, Trace, aligned
from ..units import counted, format_percent
from .finding import Finding, told
from .launched import launches
from .nested import Nested, nested
from .operator_formulas import Work, needs_values, work
from .own_time import own_of
from .roof import roof

_FAR = 0.6  # of its roofline: a product below it is worth a look
_WORTH = 0.02  # share of the GPU time that a finding must be able to return


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """All runs of one operator with the same shapes on one rank.

    `shapes` and `formats` are those of the arguments as recorded, empty where they are not. GPU times are sums of
    durations. `timed` runs have GPU work in the file, and rates are over them alone. `flop` and `bytes` are of one run,
    None without a formula; `calls_known` says that one above it has a formula too, so that its work is counted there.
    `roofline_ns` is the least time of one run on the GPU, and `efficiency` that over the mean GPU time of one: above 1
    where operands came out of L2.
    """

    rank: int | None
    name: str
    shapes: str
    formats: str
    count: int
    timed: int
    host_own_ns: int
    host_total_ns: int
    kernels: int
    gpu_own_ns: int
    gpu_total_ns: int
    form: str = ""
    gemm: tuple[int, int, int, int] | None = None
    flop: int | None = None
    bytes: int | None = None
    flop_per_byte: float | None = None
    flop_per_s: float | None = None
    bytes_per_s: float | None = None
    math: str = ""
    bound: str = ""
    roofline_ns: float | None = None
    efficiency: float | None = None
    calls_known: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operators:
    """Of one rank, the one that takes most of the GPU first. `untied_ns` is GPU time that no operator launched."""

    rank: int | None
    operators: tuple[Operator, ...]
    gpu_ns: int
    untied_ns: int


@dataclass(frozen=True, slots=True)
class _Each:
    """Of each operator: where it is among the nested ranges, and its times."""

    place: Column
    host_own: Column
    host_total: Column
    kernels: Column
    gpu_own: Column
    gpu_total: Column


def operators(trace: Trace, gpu: GPU | None) -> Operators | None:
    """The operators of a rank, with the roofline of its GPU where it is known; None where no operator is recorded."""
    events = trace.events
    if not len(events.of(Kind.OPERATOR)):
        return None
    found = nested(events)
    gpu_own, kernels, untied = _launched(found)
    each = _each(found, gpu_own, kernels)
    made = [_measured(trace, found, each, group, gpu) for group in _groups(found, each)]
    order = sorted(made, key=lambda one: (-one.gpu_total_ns, -one.host_total_ns, one.name, one.shapes))
    whole = int(gpu_own.sum()) + untied
    return Operators(rank=trace.rank, operators=tuple(order), gpu_ns=whole, untied_ns=untied)


def _launched(found: Nested) -> tuple[Column, Column, int]:
    """Of each place the GPU time and the GPU events that it launched itself, and the time that none did."""
    events = found.events
    rows = events.of(*GPU_WORK)
    call = launches(events, rows)
    at = found.operator(np.where(call >= 0, found.place[call], -1))
    time, number = (np.zeros(len(found.rows), dtype=np.int64) for _ in range(2))
    tied = at >= 0
    np.add.at(time, at[tied], events.dur_ns[rows[tied]])
    np.add.at(number, at[tied], 1)
    return time, number, int(events.dur_ns[rows[~tied]].sum())


def _each(found: Nested, gpu_own: Column, kernels: Column) -> _Each:
    events = found.events
    place = np.flatnonzero(events.kind[found.rows] == Kind.OPERATOR)
    total = found.summed(gpu_own)
    name = events.name[found.rows]
    is_operator = events.kind[found.rows] == Kind.OPERATOR
    outer = ~found.inside(is_operator, name)[place]
    return _Each(
        place=place,
        host_own=own_of(found)[place],
        host_total=np.where(outer, events.dur_ns[found.rows[place]], 0),
        kernels=kernels[place],
        gpu_own=gpu_own[place],
        gpu_total=np.where(outer, total[place], 0),
    )


def _groups(found: Nested, each: _Each) -> list[Column]:
    """Which operators are of one name, shapes and formats; of one stride and mask too, where its formula asks."""
    events = found.events
    rows = found.rows[each.place]
    asks = np.array([needs_values(name) for name in events.names], dtype=bool)[events.name[rows]]
    told_by = [aligned(events.arguments, name, rows) for name in ("dims", "types", "values")]
    keys = np.stack([events.name[rows], told_by[0], told_by[1], np.where(asks, told_by[2], -1)])
    _, of = np.unique(keys, axis=1, return_inverse=True)
    order = np.argsort(np.ravel(of), kind="stable")
    return np.split(order, np.flatnonzero(np.diff(np.ravel(of)[order])) + 1)


def _measured(trace: Trace, found: Nested, each: _Each, group: Column, gpu: GPU | None) -> Operator:
    events = found.events
    row = found.rows[each.place[group[:1]]]
    dims, types, values = (
        events.names[text] if (text := int(aligned(events.arguments, name, row)[0])) >= 0 else ""
        for name in ("dims", "types", "values")
    )
    name, timed = events.text(int(row[0])), each.gpu_total[group] > 0
    one = Operator(
        rank=trace.rank,
        name=name,
        shapes=" ".join(dims.split()),
        formats=" ".join(types.split()),
        count=len(group),
        timed=int(timed.sum()),
        host_own_ns=int(each.host_own[group].sum()),
        host_total_ns=int(each.host_total[group].sum()),
        kernels=int(each.kernels[group].sum()),
        gpu_own_ns=int(each.gpu_own[group].sum()),
        gpu_total_ns=int(each.gpu_total[group].sum()),
    )
    known = work(name, dims, types, values)
    return one if known is None else _worked(one, known, _is_called(found, int(each.place[group[0]])), gpu)


def _is_called(found: Nested, place: int) -> bool:
    """Whether an operator above this one has work by a formula."""
    events, above = found.events, int(found.above[place])
    while above >= 0:
        row = found.rows[above : above + 1]
        texts = [int(aligned(events.arguments, name, row)[0]) for name in ("dims", "types", "values")]
        if work(events.text(int(row[0])), *(events.names[text] if text >= 0 else "" for text in texts)) is not None:
            return True
        above = int(found.above[above])
    return False


def _worked(one: Operator, known: Work, is_called: bool, gpu: GPU | None) -> Operator:
    """With what one run computes and moves, the rates of the timed ones, and the roofline."""
    time_s = one.gpu_total_ns * 1e-9
    least = roof(known, gpu) if gpu is not None else None
    return replace(
        one,
        form=known.form,
        gemm=known.gemm,
        flop=known.flop,
        bytes=known.bytes,
        flop_per_byte=known.flop / known.bytes if known.bytes else None,
        flop_per_s=known.flop * one.timed / time_s if time_s else None,
        bytes_per_s=known.bytes * one.timed / time_s if time_s else None,
        math=least.math if least else "",
        bound=least.bound if least else "",
        roofline_ns=least.time_s * 1e9 if least else None,
        efficiency=least.time_s * one.timed / time_s if least and time_s else None,
        calls_known=is_called,
    )


def findings(found: Operators) -> list[Finding]:
    """Matrix products far below their roofline, as one finding."""
    far = [one for one in found.operators if one.form in ("gemm", "conv") and one.gpu_own_ns and _lost(one) > 0]
    saving = sum(map(_lost, far))
    if saving <= _WORTH * found.gpu_ns:
        return []
    most = max(far, key=_lost)
    return [
        Finding(
            title="Matrix products are far below what the GPU can do",
            evidence=f"{counted(len(far), 'operator')} take {told(sum(one.gpu_total_ns for one in far))}, less than"
            f" {format_percent(_FAR)} of the roofline; most is lost in {most.name} {most.shapes}, at"
            f" {format_percent(most.efficiency or 0)} of it",
            advice="Look at these shapes: small m (batch), extents that are no multiple of 8, formats wider than needed;"
            " `synperf explain gemm` says what limits one.",
            saving_ns=saving,
            rank=found.rank,
        )
    ]


def _lost(one: Operator) -> int:
    """What an operator takes beyond its roofline, where it is far from it."""
    if one.efficiency is None or one.efficiency >= _FAR or one.roofline_ns is None:
        return 0
    return int(one.gpu_total_ns - one.roofline_ns * one.timed)
