"""An explanation of one call, as text and as the keys of `explain --json`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..achieved import Achieved
from ..explanation import Explanation
from ..features import Features
from ..hardware.makers import maker
from ..kernels import family
from ..numeric import ceil_div
from ..units import format_binary, format_percent, format_quantity, format_time
from . import estimates, routing, unequal
from .text import counted, labelled, paragraphs, share_full, table


def to_dict(x: Explanation, rates: Achieved | None = None) -> dict[str, Any]:
    """The keys of the estimate, then those of its parts, and what a measured time came to."""
    return {**estimates.to_dict(x.call, x.estimate), **x.to_dict(), **({"achieved": asdict(rates)} if rates else {})}


def to_text(x: Explanation, rates: Achieved | None = None) -> str:
    """The time, what a measured one came to, how the launch is laid out, and how long each pipe is busy.

    Parts of the GPU have the names that its maker gives them.
    """
    said = maker(x.gpu.maker).said
    heads = ("pipe", "whole GPU", said("busiest SM"), "")
    return paragraphs(
        estimates.headline(x.call, x.estimate),
        _achieved(x, rates) if rates else "",
        labelled((said(label), said(text)) for label, text in _launch(x)),
        table(heads, _pipes(x), heads[1:3]),
        labelled(estimates.origin(x.call, x.gpu, x.estimate)),
    )


def _achieved(x: Explanation, rates: Achieved) -> str:
    """What was measured, and which of its two rates can be judged."""
    math = f"{format_quantity(rates.flop_per_s, 'FLOP/s')}, {format_percent(rates.math_share)} of the {x.math} peak"
    dram = f"{format_quantity(rates.bytes_per_s, 'B/s')}, {format_percent(rates.dram_share)} of the DRAM bandwidth"
    judged, other = (math, dram) if rates.bound == "math" else (dram, math)
    side = "above" if rates.bound == "math" else "below"
    return (
        f"measured {format_time(rates.took_s)}: {judged}\n"
        f"intensity is {side} the ridge, so {rates.bound} bounds it; the other rate ({other}) says nothing\n"
        f"{rates.over_estimate:.3g} times the estimate, {rates.over_floor:.3g} times the floor"
    )


def _launch(x: Explanation) -> list[tuple[str, str]]:
    launch, load, f = x.launch, x.features.load, x.features
    ctas = "persistent CTAs" if launch.persistent else "CTAs"
    grid = " x ".join(f"{extent:,}" for extent in launch.grid)
    choice = ", ".join(f"{name} {value}" for name, value in launch.choice.items())
    resident = counted(launch.occupancy.ctas_per_sm, "CTA")
    slots = format_percent(load.wave_efficiency)
    return [
        ("tiles", f"{launch.tiles:,}, {launch.choice_source}{': ' if choice else ''}{choice}"),
        ("grid", f"{grid} {ctas} of {launch.threads} threads"),
        ("one CTA", f"{launch.registers} registers per thread, {format_binary(launch.shared_bytes)} of shared memory"),
        ("one SM", f"{resident} at once, limited by {' and '.join(launch.occupancy.limiters)}"),
        ("waves", f"{x.waves:,}, the last {share_full(load.tail)} full; {slots} of all slots used"),
        ("busiest SM", unequal.busiest(x)),
        ("then", _next_launch(x)),
        *routing.lines(x),
        *unequal.lines(x),
        ("useful", _useful(x)),
        ("intensity", f"{f.intensity_over_ridge:.3g} times the ridge of {x.gpu.name}"),
        ("DRAM", _dram(f)),
        ("analytical", _analytical(x)),
    ]


def _dram(f: Features) -> str:
    """The traffic and the compulsory part of it, or of compulsory bytes what L2 serves."""
    moved, compulsory = format_quantity(f.dram_bytes, "B"), format_quantity(f.compulsory_bytes, "B")
    if f.dram_bytes < f.compulsory_bytes:
        return f"{moved} of the {compulsory} that are compulsory; L2 has the rest"
    return f"{moved}, of which {compulsory} are compulsory"


def _useful(x: Explanation) -> str:
    """The part of the math that is not padding, of families that have tiles."""
    padded = not family(x.estimate.family).is_memory_bound
    return f"{format_percent(x.features.padding)} of the math, the rest pads edge tiles" if padded else ""


def _next_launch(x: Explanation) -> str:
    """The launch that starts when the first has ended, where there is one."""
    if x.task.then is None:
        return ""
    tasks = x.task.then.count
    return f"{counted(int(tasks), 'task')} of the next launch, {ceil_div(tasks, x.gpu.num_sms):,.0f} on the busiest SM"


def _analytical(x: Explanation) -> str:
    """The sum of the parts, and by what factor the estimate differs; nothing where the estimate is that sum."""
    if x.estimate.origin == "analytical":
        return ""
    factor = x.estimate.time_s / x.analytical_s
    return f"{format_time(x.analytical_s)}, launch floor + the slowest pipe; the estimate is {factor:.3g} times that"


def _pipes(x: Explanation) -> list[tuple[str, str, str, str]]:
    times = {name: (format_time(pipe["gpu_s"]), format_time(pipe["sm_max_s"])) for name, pipe in x.pipes().items()}
    times |= {name: ("", format_time(time_s)) for name, time_s in x.beside_s().items()}
    return [(name, *pair, _mark(x, name)) for name, pair in times.items()]


def _mark(x: Explanation, name: str) -> str:
    """What is said beside the limiter; what runs beside the pipes adds to all but DRAM, which hides it.

    An estimate below the time of the limiting DRAM traffic is of calls that found their operands in L2.
    """
    if name != x.estimate.limiter:
        return ""
    f = x.features
    if name == "dram" and x.estimate.time_s < f.busiest_s[name]:
        return "the limit of a call that finds L2 cold; the estimate is below it: what was timed came out of L2"
    parts = {"the pass before": f.before_s, "the reduction": f.reduction_s, "the fill": f.fill_s}
    adds = [part for part, time_s in parts.items() if time_s and name in f.busiest_s and name != "dram"]
    return f"the limit, with {' and '.join(adds)}" if adds else "the limit"
