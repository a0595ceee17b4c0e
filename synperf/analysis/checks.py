"""What each item of the check list looks at in a trace. A `Look` gives whether an item holds, and the numbers.

None in the place of a truth value says that the trace does not tell; the sentence then says what it lacks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import log2
from typing import Any

from ..units import counted, format_percent, format_quantity, format_time
from .facts import Facts, share
from .finding import named, told
from .geometry import Geometry
from .kernels import Kernel
from .operators import Operator

Seen = tuple[bool | None, str]
Look = Callable[[Facts, Mapping[str, Any]], Seen]

_NO_GEOMETRY = "no launch geometry with registers in the trace"
_NO_SHAPES = "no matrix products with shapes and kernels in the trace"
_TRANSPOSES = ("transpose", "nchwtonhwc", "nhwctonchw", "permute")  # in small letters
_MOVES = re.compile(r"^aten::(copy_|clone|contiguous|cat|_cat|repeat|index_copy_)$")
_NARROW = ("bf16", "fp16", "fp8", "int8")
_MULTIPLE = 8  # values of 16 bits in 16 bytes, which tensor cores load at once
_ALL_REDUCE = "all_reduce"


def _at_most(part: float | None, what: str, item: Mapping[str, Any], missing: str) -> Seen:
    """Whether a share is at most the limit of an item."""
    if part is None:
        return None, missing
    right = f"right would be at most {format_percent(item['limit'])}"
    return part <= item["limit"], f"{format_percent(part)} {what}; {right}"


def _at_least(part: float | None, what: str, item: Mapping[str, Any], missing: str) -> Seen:
    """Whether a share is at least the limit of an item."""
    if part is None:
        return None, missing
    right = f"right would be at least {format_percent(item['limit'])}"
    return part >= item["limit"], f"{format_percent(part)} {what}; {right}"


def _shape_time(one: Geometry) -> int:
    return max(one.total_ns, 1)  # kernels without a time have launched all the same


def _kernel_time(one: Kernel) -> int:
    return one.total_ns


def _operator_time(one: Operator) -> int:
    return one.gpu_total_ns


def block_size(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of kernel time in blocks that fill no whole number of warps."""
    part = share(facts.geometry, _shape_time, lambda one: bool(one.threads % one.warp_size))
    worst = next((one for one in facts.geometry if one.threads % one.warp_size), None)
    such = f" ({named(worst.name)}: {worst.threads} threads)" if worst else ""
    return _at_most(part, f"of kernel time is in blocks that fill no whole number of warps{such}", item, _NO_GEOMETRY)


def shared_memory(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of the time of matrix products and convolutions in kernels with shared memory."""
    family = {one.name: one.family for one in facts.kernels}
    ones = [one for one in facts.geometry if family.get(one.name) in ("gemm", "conv") and one.shared_bytes is not None]
    part = share(ones, _shape_time, lambda one: bool(one.shared_bytes))
    return _at_least(part, "of their time is in kernels with shared memory", item, f"{_NO_GEOMETRY} of such kernels")


def async_copies(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of the span in copies with pageable host memory, or with no kernel beside them."""
    if not facts.copies:
        return None, "no copies in the trace"
    pageable = sum(one.total_ns for one in facts.copies if one.host_memory == "pageable")
    exposed = sum(one.exposed_copy_ns for one in facts.overlaps)
    part = max(pageable, exposed) / facts.span_ns if facts.span_ns else None
    what = f"of the span, {told(pageable)} with pageable memory, {told(exposed)} with no kernel beside them"
    return _at_most(part, what, item, "no span")


def fills_gpu(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of kernel time in grids with fewer CTAs than SMs."""
    ones = [one for one in facts.geometry if one.blocks_per_sm is not None]
    part = share(ones, _shape_time, lambda one: (one.blocks_per_sm or 0) < 1)
    return _at_most(part, "of kernel time is in grids with fewer CTAs than SMs", item, f"{_NO_GEOMETRY}, or no GPU")


def precision(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of the time of matrix products in formats wider than 16 bits."""
    part = share(facts.products(), _operator_time, lambda one: one.dtype not in _NARROW)
    return _at_most(part, "of the time of matrix products is in formats wider than 16 bits", item, _NO_SHAPES)


def transposes(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of kernel time in transposes and conversions of layout, which are counted."""
    names = {one.name for one in facts.kernels if any(map(one.name.lower().__contains__, _TRANSPOSES))}
    part = share(facts.kernels, _kernel_time, lambda one: one.name in names)
    number = counted(sum(one.count for one in facts.kernels if one.name in names), "transpose")
    return _at_most(part, f"of kernel time is in {number}", item, "no kernels in the trace")


def fusion(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of the span in small operators that memory bounds."""
    part = facts.cause_share("small_operators")
    return _at_most(part, "of the span is in small operators that memory bounds", item, "no GPU work in the trace")


def alignment(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of the time of matrix products whose n or k, along which memory runs, is no multiple of 8."""
    ones = [one for one in facts.products() if one.gemm is not None]
    part = share(ones, _operator_time, lambda one: any(extent % _MULTIPLE for extent in (one.gemm or ())[2:]))
    what = f"of the time of matrix products has an n or k that is no multiple of {_MULTIPLE}"
    return _at_most(part, what, item, _NO_SHAPES)


def temporaries(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of the GPU time of operators that only copy values about."""
    every = [one for rank in facts.operators for one in rank.operators if one.gpu_own_ns]
    part = share(every, lambda one: one.gpu_own_ns, lambda one: bool(_MOVES.match(one.name)))
    return _at_most(part, "of the GPU time is in operators that only copy", item, "no operators with GPU work")


def registers(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of kernel time at the most registers of a thread, beyond which values spill."""
    ones = [one for one in facts.geometry if one.max_registers is not None]
    part = share(ones, _shape_time, lambda one: one.registers >= (one.max_registers or 0))
    return _at_most(part, "of kernel time has as many registers as a thread can", item, f"{_NO_GEOMETRY}, or no GPU")


def first_step(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """The first step over the median of the others."""
    ones = [one for one in facts.steps if len(one.steps) > 2 and one.median_ns]
    if not ones:
        return None, "fewer than three steps in the trace"
    most = max(one.steps[0].dur_ns / one.median_ns for one in ones)
    right = f"right would be at most {item['limit']}"
    return most <= item["limit"], f"the first step takes {most:.3g} times the median; {right}"


def batching(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of the time of matrix products that memory bounds."""
    ones = [one for one in facts.products() if one.bound]
    part = share(ones, _operator_time, lambda one: one.bound == "memory")
    return _at_most(part, "of the time of matrix products is bound by memory", item, f"{_NO_SHAPES}, or no GPU")


def graphs(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of the span idle because launches take longer than kernels."""
    part = facts.cause_share("small_batch")
    return _at_most(part, "of the span is idle between short kernels", item, "no GPU work in the trace")


def synchronisation(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of the span idle after the host had waited for the device."""
    part = facts.cause_share("synchronisation")
    return _at_most(part, "of the span is idle after a wait of the host", item, "no GPU work in the trace")


def fragmentation(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of the reserved memory that is not handed out at the peak."""
    known = [one for one in facts.memory if not one.is_host and one.reserved_bytes]
    parts = [1 - one.peak_bytes / one.reserved_bytes for one in known if one.reserved_bytes]
    what = "of the memory that the allocator has reserved is not handed out at the peak"
    return _at_most(max(parts, default=None), what, item, "no totals of memory in the trace")


def overlap(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of the span in communication that nothing hides."""
    if not any(one.collectives for one in facts.overlaps) or not facts.span_ns:
        return None, "no collectives in the trace"
    part = sum(one.exposed_comm_ns for one in facts.overlaps) / facts.span_ns
    return _at_most(part, "of the span is communication that nothing hides", item, "")


def message_times(size: float, ranks: int, alpha_s: float, bytes_per_s: float) -> tuple[float, float]:
    """Seconds of an all-reduce on a ring, and on a tree each of whose hops sends all of it: alpha-beta model."""
    from ..collectives.algorithms import steps, wire_share  # brings kernels along, and most traces have no use for it

    ring, _ = steps(_ALL_REDUCE, "ring", ranks, 1)
    hops = 2 * log2(ranks)
    wire = wire_share(_ALL_REDUCE, "ring", ranks)
    return ring * alpha_s + wire * size / bytes_per_s, hops * (alpha_s + size / bytes_per_s)


def message_size(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """All-reduces on a ring that a tree would do in less time."""
    made = facts.across.collectives if facts.across else ()
    rings = [one for one in made if "RING" in one.name and "AllReduce" in one.name and one.bytes]
    if not rings:
        return None, "no all-reduce whose bytes and algorithm the traces of all ranks say"
    slow = []
    for one in rings:
        ring, tree = message_times(one.bytes or 0, len(one.arrivals), item["alpha_s"], item["bytes_per_s"])
        if ring > item["limit"] * tree:
            slow.append((one.bytes or 0, ring, tree))
    if not slow:
        return True, f"{counted(len(rings), 'all-reduce')} on a ring, each large enough for it"
    size, ring, tree = min(slow)
    times = f"{format_time(ring)} on a ring, {format_time(tree)} on a tree"
    return False, f"{len(slow)} of {len(rings)} are too small, the smallest {format_quantity(size, 'B')}: {times}"


def imbalance(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """The least mean over most of what ranks compute in a step."""
    part = min((one.efficiency for one in facts.imbalance), default=None)
    return _at_least(part, "is the mean over the most that a rank computes", item, "no steps that several ranks have")


def late_ranks(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of the spans that ranks wait for the last one."""
    if facts.across is None or not facts.across.collectives or not facts.span_ns:
        return None, "no collectives of several ranks"
    part = sum(one.others_waited_ns for one in facts.across.late) / facts.span_ns
    return _at_most(part, "of the time of all ranks is waiting for the last one", item, "")


def gradient_timing(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Whether any communication overlaps computation where a backward pass was recorded."""
    has_backward = any("Backward" in one.name for rank in facts.operators for one in rank.operators)
    if not has_backward or not any(one.collectives for one in facts.overlaps):
        return None, "no backward pass with collectives in the trace"
    hidden = sum(one.hidden_comm_ns for one in facts.overlaps) / max(sum(one.comm_ns for one in facts.overlaps), 1)
    return hidden > item["limit"], f"{format_percent(hidden)} of the communication overlaps computation or copies"


def busy_is_not_efficient(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """The part of their roofline that operators reach, weighted by time."""
    ones = [one for one in facts.known() if one.efficiency is not None]
    whole = sum(one.gpu_total_ns for one in ones)
    part = sum(one.gpu_total_ns * min(one.efficiency or 0, 1) for one in ones) / whole if whole else None
    busy = sum(one.busy_ns for one in facts.overlaps) / facts.span_ns if facts.span_ns else 0
    what = f"of the roofline is reached by operators whose work is known, on a GPU that is busy {format_percent(busy)}"
    return _at_least(part, what, item, "no operators with known work, or no GPU")


def flop_alone(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of the time of operators with known work that memory bounds."""
    ones = [one for one in facts.known() if one.bound]
    part = share(ones, _operator_time, lambda one: one.bound == "memory")
    what = "of the time of operators whose work is known is bound by memory: count bytes there, not FLOP"
    return _at_most(part, what, item, "no operators with known work, or no GPU")


def cold_operators(facts: Facts, item: Mapping[str, Any]) -> Seen:
    """Share of kernel time of the kernel that takes most."""
    whole = sum(one.total_ns for one in facts.kernels)
    most = max(facts.kernels, key=_kernel_time, default=None)
    part = most.total_ns / whole if most and whole else None
    name = most.name if most else ""
    return _at_least(part, f"of kernel time is in {named(name)}", item, "no kernels in the trace")


LOOKS: Mapping[str, Look] = {
    look.__name__: look
    for look in (
        block_size, shared_memory, async_copies, fills_gpu, precision, transposes, fusion, alignment, temporaries,
        registers, first_step, batching, graphs, synchronisation, fragmentation, overlap, message_size, imbalance,
        late_ranks, gradient_timing, busy_is_not_efficient, flop_alone, cold_operators,
    )
}  # fmt: skip
