"""What a model does under a load, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ..models import Plan
from ..serving.answer import Forecast, Interval, Share, Steady, Times
from ..serving.spread import Spread
from ..serving.workload import ClosedLoop, OpenLoop, RequestTrace, StaticBatch, Workload
from ..units import format_percent, format_time
from .calculators import memory
from .text import counted, labelled, number, paragraphs, section, table

_KINDS = {StaticBatch: "static", ClosedLoop: "closed_loop", OpenLoop: "open_loop", RequestTrace: "trace"}
_SEEN = ("ttft", "tpot", "itl", "e2e")
_PERCENTILES = ("p50", "p90", "p99")
_MOST_LENGTHS = 64  # of listed requests that a document repeats
_LEAST_SHARE = 0.01  # of a part that has a line of its own


def to_dict(found: Forecast) -> dict[str, Any]:
    """The keys of `estimate --json`; without times where the load does not fit."""
    document: dict[str, Any] = {
        "model": found.model,
        "gpu": found.gpu,
        "engine": found.engine,
        "plan": _plan(found.plan),
        "workload": _workload(found.workload),
        "fits": found.fits,
        "memory": memory.to_dict(found.memory),
    }
    if found.times is None:
        document["would_fit"] = list(found.would_fit)
    else:
        document |= _times(found.times)
    return document | {"origin": found.origin, "assumptions": list(found.assumptions)}


def _plan(plan: Plan) -> dict[str, Any]:
    return {name: value for name, value in asdict(plan).items() if value is not None} | {"gpus": plan.gpus}


def _workload(load: Workload) -> dict[str, Any]:
    told = {name: value for name, value in asdict(load).items() if value is not None}
    if isinstance(load, StaticBatch | RequestTrace):
        told["requests"] = len(load.isl)
        told = {name: value for name, value in told.items() if name == "requests" or len(value) <= _MOST_LENGTHS}
    return {"kind": _KINDS[type(load)], **told}


def _times(found: Times) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for name in _SEEN:
        document |= _spread(name, getattr(found, name), getattr(found, f"{name}_interval", None))
    document |= {
        "decode_step_s": found.decode_step_s,
        "floor_s": found.floor_s,
        "roofline_s": found.roofline_s,
        "tokens_per_s": found.tokens_per_s,
        "tokens_per_s_per_gpu": found.tokens_per_s_per_gpu,
        "requests_per_s": found.requests_per_s,
        "mean_concurrency": found.mean_concurrency,
    }
    document |= {"steady": found.left_out} if found.steady is None and found.left_out else _steady(found.steady)
    document |= {
        "host_share": found.host_share,
        "communication_share": found.communication_share,
        "exposed_communication_share": found.communication_share,
        "breakdown": [asdict(one) for one in found.breakdown],
    }
    return {name: value for name, value in document.items() if value is not None}


def _spread(name: str, found: Spread | None, interval: Interval | None) -> dict[str, float]:
    if found is None:
        return {}
    keys = {f"{name}_s": found.mean}
    if found.p50 != found.p99:
        keys |= {f"{name}_{p}_s": getattr(found, p) for p in _PERCENTILES}
    if interval is not None:
        keys |= {f"{name}_low_s": found.mean * interval.low, f"{name}_high_s": found.mean * interval.high}
    return keys


def _steady(found: Steady | None) -> dict[str, Any]:
    if found is None:
        return {}
    keys: dict[str, Any] = {"steady_requests": found.requests, "tokens_per_s_steady": found.tokens_per_s}
    for name in _SEEN:
        seen: Spread | None = getattr(found, name)
        if seen is not None:
            keys |= {f"{name}_steady_s": seen.mean} | {f"{name}_{p}_steady_s": getattr(seen, p) for p in _PERCENTILES}
    return keys


def to_text(found: Forecast) -> str:
    """What requests see, where the time goes, what memory it takes."""
    plan = found.plan
    shares = ", ".join(f"{name} {n}" for name in ("tp", "pp", "ep", "dp") if (n := getattr(plan, name)) > 1)
    head = f"{found.model} on {counted(plan.gpus, 'GPU')} of {found.gpu}" + (f" ({shares})" if shares else "")
    head = f"{head}, {found.engine}, {_load(found.workload)}"
    assumed = section("assumptions", found.assumptions)
    if found.times is None:
        return paragraphs(
            f"{head}: does not fit", memory.taken(found.memory), section("would fit", found.would_fit), assumed
        )
    return paragraphs(
        head, _seen(found.times), labelled(_rates(found.times)), _parts(found.times.breakdown),
        memory.taken(found.memory), section("factors", [found.origin] if found.origin else ()), assumed,
    )  # fmt: skip


def _load(load: Workload) -> str:
    if isinstance(load, ClosedLoop):
        return f"{counted(load.concurrency, 'client')}, {load.isl} tokens in, {load.osl} out"
    if isinstance(load, OpenLoop):
        return f"{number(load.request_rate)} requests/s, {load.isl} tokens in, {load.osl} out"
    lengths = ", ".join(f"{_range(column)} {way}" for column, way in ((load.isl, "tokens in"), (load.osl, "out")))
    kind = "a batch" if isinstance(load, StaticBatch) else "a trace"
    return f"{kind} of {counted(len(load.isl), 'request')}, {lengths}"


def _range(values: Any) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low} to {high}"


def _seen(found: Times) -> str:
    heads = ["", "mean", "80 % interval", *_PERCENTILES, "steady"]
    rows = list(_rows(found))
    kept = [at for at, head in enumerate(heads) if not head or any(row[at] for row in rows)]
    return table([heads[at] for at in kept], [[row[at] for at in kept] for row in rows], heads[1:])


def _rows(found: Times) -> Iterator[list[str]]:
    names = {"ttft": "TTFT", "tpot": "TPOT", "itl": "ITL", "e2e": "whole request"}
    for name, label in names.items():
        seen: Spread | None = getattr(found, name)
        if seen is None:
            continue
        interval: Interval | None = getattr(found, f"{name}_interval", None)
        steady: Spread | None = getattr(found.steady, name, None)
        yield [
            label,
            format_time(seen.mean),
            ""
            if interval is None
            else f"{format_time(seen.mean * interval.low)} to {format_time(seen.mean * interval.high)}",
            *("" if seen.p50 == seen.p99 else format_time(getattr(seen, p)) for p in _PERCENTILES),
            "" if steady is None else format_time(steady.mean),
        ]


def _rates(found: Times) -> Iterator[tuple[str, str]]:
    yield "decode step", "" if found.decode_step_s is None else format_time(found.decode_step_s)
    yield "tokens", f"{number(found.tokens_per_s)}/s of answers, {number(found.tokens_per_s_per_gpu)}/s on each GPU"
    yield "requests", f"{number(found.requests_per_s)}/s, {number(found.mean_concurrency)} in flight"
    for name, bound_s in (("floor", found.floor_s), ("roofline", found.roofline_s)):
        if bound_s:
            share = format_percent(bound_s / found.e2e.mean)
            tokens = number(found.tokens_per_s * found.e2e.mean / bound_s)
            yield name, f"{format_time(bound_s)}, {share} of the whole request; {tokens} tokens/s at the most"
    yield "host", format_percent(found.host_share)
    yield "communication", f"{format_percent(found.communication_share)}, all of it exposed"
    yield "steady", found.left_out if found.steady is None else ""


def _row(one: Share) -> list[str]:
    return [
        one.phase,
        one.part,
        one.family,
        format_time(one.time_s),
        format_percent(one.share),
        one.limiter,
        one.origin,
    ]


def _parts(parts: tuple[Share, ...]) -> str:
    kept = [one for one in parts if one.share >= _LEAST_SHARE]
    rows = [
        [one.phase, one.part, one.family, format_time(one.time_s), format_percent(one.share), one.limiter, one.origin]
        for one in kept
    ]
    rest = sum(one.share for one in parts) - sum(one.share for one in kept)
    if rest > 0:
        rows.append(["", "others", "", format_time(sum(o.time_s for o in parts) - sum(o.time_s for o in kept)),
                     format_percent(rest), "", ""])  # fmt: skip
    return table(["phase", "part", "family", "time", "share", "limited by", "origin"], rows, ["time", "share"])
