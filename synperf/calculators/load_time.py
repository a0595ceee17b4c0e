"""How long a model takes until it can answer: disk, host memory, the copy to the GPU, graphs, compiled kernels.

The terms are added, as a loader does them one after another; one that reads and copies side by side takes the longer
of both instead. Instances on one GPU that share read-only weights need them once.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..units import format_percent, format_quantity, format_time
from .amounts import extent, not_negative, positive


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadTime:
    """Seconds by part, in the order in which they happen, 0 where a part does not; bytes of all instances."""

    disk_s: float
    host_alloc_s: float
    h2d_s: float
    graph_s: float
    jit_s: float
    total_s: float
    overlapped_s: float  # disk and copy side by side
    instances: int
    bytes_apart: float  # each instance with weights of its own
    bytes_shared: float
    why: tuple[str, ...]
    advice: tuple[str, ...]


def load_time(
    *,
    weights_bytes: float,
    link_bytes_per_s: float,
    disk_bytes_per_s: float | None = None,
    host_alloc_s: float = 0.0,
    graph_s: float = 0.0,
    jit_kernels: int = 0,
    jit_s_per_kernel: float = 0.05,
    instances: int = 1,
    activations_bytes: float = 0.0,
) -> LoadTime:
    """The parts of a cold start; `disk_bytes_per_s` None is weights that lie in host memory.

    `jit_s_per_kernel` is what a driver takes to compile one kernel from PTX: 10 to 100 ms.

    Raises:
        FieldError: bytes, rates or times that are not above 0, or from 0 on where there may be none.
    """
    positive(weights_bytes=weights_bytes, link_bytes_per_s=link_bytes_per_s)
    not_negative(activations_bytes=activations_bytes, host_alloc_s=host_alloc_s, graph_s=graph_s)
    not_negative(jit_kernels=jit_kernels, jit_s_per_kernel=jit_s_per_kernel)
    if disk_bytes_per_s is not None:
        positive(disk_bytes_per_s=disk_bytes_per_s)
    count = extent("instances", instances)
    parts = {
        "disk": 0.0 if disk_bytes_per_s is None else weights_bytes / disk_bytes_per_s,
        "host alloc": host_alloc_s,
        "h2d": weights_bytes / link_bytes_per_s,
        "graph": graph_s,
        "jit": jit_kernels * jit_s_per_kernel,
    }
    total = sum(parts.values())
    overlapped = total - min(parts["disk"], parts["h2d"])
    apart, shared = count * (weights_bytes + activations_bytes), weights_bytes + count * activations_bytes
    return LoadTime(
        disk_s=parts["disk"],
        host_alloc_s=parts["host alloc"],
        h2d_s=parts["h2d"],
        graph_s=parts["graph"],
        jit_s=parts["jit"],
        total_s=total,
        overlapped_s=overlapped,
        instances=count,
        bytes_apart=apart,
        bytes_shared=shared,
        why=_why(parts, total, weights_bytes, link_bytes_per_s),
        advice=tuple(_advice(parts, total, overlapped, count, apart, shared)),
    )


def _why(parts: dict[str, float], total: float, size: float, rate: float) -> tuple[str, ...]:
    longest = max(parts, key=lambda name: parts[name])
    return (
        f"{format_quantity(size, 'B')} at {format_quantity(rate, 'B/s')} take {format_time(parts['h2d'])} to the GPU",
        f"the longest part is {longest}, {format_percent(parts[longest] / total)} of {format_time(total)}",
    )


def _advice(
    parts: dict[str, float], total: float, overlapped: float, count: int, apart: float, shared: float
) -> list[str]:
    said = []
    if parts["jit"] > 0:
        said.append(f"kernels compiled for this GPU beforehand save {format_time(parts['jit'])}")
    if overlapped < total:
        said.append(f"reading and copying side by side takes {format_time(overlapped)}")
    if parts["disk"] > parts["h2d"]:
        said.append(f"weights kept in host memory save {format_time(parts['disk'])}")
    if parts["graph"] > 0:
        said.append(f"a graph kept from an earlier start saves {format_time(parts['graph'])}")
    if count > 1:
        said.append(f"weights shared by {count} instances take {format_quantity(shared, 'B', 4)} in the place of "
                    f"{format_quantity(apart, 'B', 4)}")  # fmt: skip
    said.append(
        "layers that are loaded when they are first used let the first answer begin before the last byte is there"
    )
    return said
