"""Pictures of a trace: SVG that stretches to its place, with colours that the page names for both themes.

No figure has words inside: those stand beside it in the page, as large as all others on any screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..analysis.collectives import Collective
from ..analysis.memory import Memory
from ..analysis.overlap import Overlap
from ..analysis.steps import Step
from ..analysis.timeline import Timeline
from . import svg

COLOURS = {
    "compute": "var(--compute)",
    "exposed copy": "var(--copy)",
    "exposed communication": "var(--comm)",
    "idle": "var(--idle)",
}
_HIGH, _WIDE = 100.0, 1000.0  # of a figure in its own units
_TICK = 8.0  # width of a rank's mark
_MARK = 2.0  # and of that of a peak


def parts(device: Overlap) -> tuple[int, int, int, int]:
    """What a device did with its time, in the order of the colours."""
    return device.compute_ns, device.exposed_copy_ns, device.exposed_comm_ns, device.idle_ns


def split(values: Sequence[int]) -> str:
    """One bar of the parts, whose sum is its length."""
    scale, at, boxes = _WIDE / max(sum(values), 1), 0.0, []
    for value, colour in zip(values, COLOURS.values(), strict=True):
        boxes.append(svg.rect(at, 0, value * scale, _HIGH, colour))
        at += value * scale
    return _figure("compute, exposed copy, exposed communication, idle", boxes, "strip whole")


def memory_line(one: Memory) -> str:
    """What was handed out over time, from 0 to the peak, and a mark at the peak."""
    low = min(0, *one.line_bytes)
    high, wide = max(one.peak_bytes - low, 1), _WIDE / len(one.line_bytes)
    heights = [_HIGH * (value - low) / high for value in one.line_bytes]
    outline = "".join(f"V{_HIGH - height:.2f}h{wide:.3f}" for height in heights)
    at = _WIDE * (one.peak_ns - one.start_ns) / max(one.end_ns - one.start_ns, 1)
    mark = svg.rect(min(at, _WIDE - _MARK), 0, _MARK, _HIGH, "var(--slow)")
    return _figure("memory over time", [svg.path(f"M0 {_HIGH:g}{outline}V{_HIGH:g}z", "var(--bar)"), mark], "timeline")


def utilisation(one: Timeline) -> str:
    """Slices of a device's span: how much of each is compute, exposed copy and exposed communication, from below."""
    first, last = one.edges_ns[0], one.edges_ns[-1]
    x = [_WIDE * (edge - first) / max(last - first, 1) for edge in one.edges_ns]
    dur = [max(after - before, 1) for before, after in zip(one.edges_ns, one.edges_ns[1:], strict=False)]
    below = [0.0] * len(dur)
    parts = [svg.rect(0, 0, _WIDE, _HIGH, COLOURS["idle"])]
    stacked = (one.compute_ns, one.exposed_copy_ns, one.exposed_comm_ns)
    for name, values in zip(COLOURS, stacked, strict=False):
        height = [_HIGH * value / whole for value, whole in zip(values, dur, strict=True)]
        parts.append(svg.path("".join(_boxes(x, below, height)), COLOURS[name]))
        below = [low + high for low, high in zip(below, height, strict=True)]
    return _figure("share of time, slice by slice", parts, "timeline")


def _boxes(x: Sequence[float], below: Sequence[float], height: Sequence[float]) -> Iterator[str]:
    """A path of the boxes that have a height."""
    for left, right, low, high in zip(x, x[1:], below, height, strict=False):
        if high > 0:
            yield f"M{left:.2f} {_HIGH - low:.2f}V{_HIGH - low - high:.2f}H{right:.2f}V{_HIGH - low:.2f}z"


def steps_over(device: Overlap, steps: Iterable[Step]) -> str:
    """The steps of a device's rank over its span, on the host's clock; slow ones stand out."""
    parts = []
    for place, step in enumerate(steps):
        left, right = (
            min(max(at - device.start_ns, 0), device.span_ns) * _WIDE / max(device.span_ns, 1)
            for at in (step.start_ns, step.start_ns + step.dur_ns)
        )
        colour = "var(--slow)" if step.is_slow else f"var(--step{place % 2})"
        parts.append(svg.rect(left, 0, right - left, _HIGH, colour))
    return _figure("steps", parts, "strip")


def bar(share: float) -> str:
    """A bar as long as the share."""
    return _figure("", [svg.rect(0, 0, _WIDE * share, _HIGH, "var(--bar)")], "bar")


def step_bar(step: Step, longest_ns: int) -> str:
    """A step: computing, otherwise busy, and the rest, as long as it is against the longest one."""
    scale = _WIDE / max(longest_ns, 1)
    compute, busy, whole = (scale * value for value in (step.compute_ns, step.busy_ns, step.dur_ns))
    rest = "var(--slow)" if step.is_slow else COLOURS["idle"]
    widths = [(0.0, whole, rest), (0.0, busy, "var(--step0)"), (0.0, compute, COLOURS["compute"])]
    return _figure("", [svg.rect(x, 0, width, _HIGH, colour) for x, width, colour in widths], "bar")


def arrivals(one: Collective, longest_ns: int) -> str:
    """When each rank arrives after the first one; the last one stands out."""
    scale = (_WIDE - _TICK) / max(longest_ns, 1)
    order = sorted(one.arrivals, key=lambda arrival: arrival.rank == one.last_rank)
    marks = [
        svg.element(
            "rect",
            svg.element("title", f"rank {arrival.rank}"),
            x=arrival.offset_ns * scale,
            y=0,
            width=_TICK,
            height=_HIGH,
            fill="var(--slow)" if arrival.rank == one.last_rank else "var(--bar)",
        )
        for arrival in order
    ]
    return _figure("", [svg.rect(0, _HIGH / 2, _WIDE, 4, COLOURS["idle"]), *marks], "bar")


def _figure(title: str, parts: Iterable[str], kind: str) -> str:
    """A figure that stretches; one without a title only repeats numbers that stand beside it."""
    said = {"role": "img", "aria_label": title} if title else {"aria_hidden": "true"}
    return svg.element(
        "svg", "".join(parts), viewBox=f"0 0 {_WIDE:g} {_HIGH:g}", preserveAspectRatio="none", **{"class": kind}, **said
    )
