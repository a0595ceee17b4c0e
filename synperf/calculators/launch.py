"""What launching many short kernels costs, and what a CUDA graph, several streams and a persistent kernel save.

A host launches one kernel after the other and runs ahead of the GPU, which runs them in order. Kernels that are
shorter than a launch leave the GPU idle. As textbooks have it every kernel takes the longer of its own time and that of
a launch; `queued_s` follows the queue, in which long kernels give the host time to launch short ones ahead.

Source: NVIDIA, CUDA C++ Programming Guide, "CUDA Graphs" and "Streams".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..units import format_percent, format_time
from .amounts import all_positive, count, not_negative, positive, share

LAUNCH_S = 5e-6  # of the 2 to 5 us that a launch takes a host, the upper end
_MOST = 1_000_000  # kernels: what the queue is followed for
_MOST_STREAMS = 128
_SHOWN = 12  # launches and kernels that are kept as a timeline
_FEW = 0.02  # share of the time that is not worth a change


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One launch, or one kernel, from start to end."""

    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Launching:
    """All kernels, by how they are launched. `ungraphed_s` is the textbook's sum, `queued_s` that of the queue.

    `idle_share` is that of the GPU while the host launches every kernel, `launch_bound` how many kernels are shorter
    than a launch. `saved_s` is what each way saves of `queued_s`, `host` and `gpu` the first launches and kernels.
    """

    kernels: int
    kernels_s: float
    launch_s: float
    ungraphed_s: float
    queued_s: float
    graph_s: float
    streams: int
    streams_s: float
    persistent_s: float
    launch_bound: int
    idle_share: float
    saved_s: Mapping[str, float]
    host: tuple[Span, ...]
    gpu: tuple[Span, ...]
    why: tuple[str, ...]
    advice: tuple[str, ...]


def launch(
    *,
    kernel_s: Sequence[float],
    kernels: int | None = None,
    launch_s: float = LAUNCH_S,
    graph_launch_s: float | None = None,
    streams: int = 2,
    gpu_share: float = 1.0,
    barrier_s: float = 0.0,
) -> Launching:
    """Kernels of these times in their order, repeated until there are `kernels`.

    A graph is launched in `graph_launch_s`, by default that of a kernel. Each of `streams` is fed by a host thread of
    its own; a kernel fills `gpu_share` of the GPU, and what it leaves is for other streams. A persistent kernel has a
    barrier of `barrier_s` in the place of each end of a kernel but the last.

    Raises:
        FieldError: a number is out of range, or the list is empty.
    """
    all_positive("kernel_s", kernel_s)
    number = len(kernel_s) if kernels is None else count("kernels", kernels, _MOST)
    positive(launch_s=launch_s, graph_launch_s=launch_s if graph_launch_s is None else graph_launch_s)
    share(gpu_share=gpu_share)
    not_negative(barrier_s=barrier_s)
    lanes = count("streams", streams, _MOST_STREAMS)
    times = [kernel_s[at % len(kernel_s)] for at in range(number)]
    host, gpu = _queue(times, launch_s)
    busy, queued = sum(times), gpu[-1].end_s
    ways = {
        "graph": (launch_s if graph_launch_s is None else graph_launch_s) + busy,
        "streams": max(_streams(times, launch_s, lanes), launch_s + busy * gpu_share),
        "persistent": launch_s + busy + (number - 1) * barrier_s,
    }
    bound = sum(one < launch_s for one in times)
    return Launching(
        kernels=number,
        kernels_s=busy,
        launch_s=launch_s,
        ungraphed_s=sum(max(one, launch_s) for one in times),
        queued_s=queued,
        graph_s=ways["graph"],
        streams=lanes,
        streams_s=ways["streams"],
        persistent_s=ways["persistent"],
        launch_bound=bound,
        idle_share=1 - busy / queued,
        saved_s={name: queued - took for name, took in ways.items()},
        host=tuple(host[:_SHOWN]),
        gpu=tuple(gpu[:_SHOWN]),
        why=tuple(_why(times, launch_s, busy, queued, bound)),
        advice=tuple(_advice(times, launch_s, queued, ways)),
    )


def _streams(times: Sequence[float], launch_s: float, streams: int) -> float:
    """The longest of the queues over which kernels are dealt out."""
    return max(_queue(times[at::streams], launch_s)[1][-1].end_s for at in range(min(streams, len(times))))


def _queue(times: Sequence[float], launch_s: float) -> tuple[list[Span], list[Span]]:
    """Launches one after the other, and kernels in order, each after its launch and the kernel before."""
    host, gpu, end = [], [], 0.0
    for at, took in enumerate(times):
        launched = Span(start_s=at * launch_s, end_s=(at + 1) * launch_s)
        start = max(launched.end_s, end)
        end = start + took
        host.append(launched)
        gpu.append(Span(start_s=start, end_s=end))
    return host, gpu


def _why(times: Sequence[float], launch_s: float, busy: float, queued: float, bound: int) -> Iterator[str]:
    mean = busy / len(times)
    yield (
        f"{len(times):,} launches of {format_time(launch_s)} take the host {format_time(len(times) * launch_s)}; "
        f"the kernels, {format_time(mean)} in the mean, take the GPU {format_time(busy)}"
    )
    if bound:
        yield f"{bound:,} kernels are shorter than a launch: the GPU is idle for {format_percent(1 - busy / queued)}"
    else:
        yield "no kernel is shorter than a launch: the host runs ahead, and launches are hidden"


def _advice(times: Sequence[float], launch_s: float, queued: float, ways: Mapping[str, float]) -> Iterator[str]:
    best = min(ways, key=lambda name: ways[name])
    if queued - ways[best] < _FEW * queued:
        yield "nothing to gain: launches are hidden behind kernels"
        return
    said = {
        "graph": "a CUDA graph (or torch.compile's reduce-overhead) launches all of them at once, if shapes stay",
        "streams": "streams, each with a host thread, if kernels are independent",
        "persistent": "a persistent kernel does all in one launch, with a barrier across the grid between steps",
    }
    for name in sorted(ways, key=lambda name: ways[name]):
        if ways[name] < queued:
            yield f"{said[name]}: {format_time(ways[name])}, {queued / ways[name]:.3g} times as fast"
    merged = launch_s * len(times) / sum(times)
    if merged > 1:
        yield f"fusing {merged:.3g} kernels into one on average makes them as long as their launch"
