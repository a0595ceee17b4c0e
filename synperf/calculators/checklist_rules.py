"""Whether one item of a check list holds by what a description says; None where it says nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import hardware
from ..analysis.checks import message_times
from ..errors import FieldError, named
from ..hardware import DType
from ..kernels.fields import MOST_ELEMENTS, dtype_of, name_of, truth
from ..units import format_percent, format_quantity, format_time
from .amounts import all_positive, count, extent, not_negative

Described = Mapping[str, Any]
Seen = tuple[bool | None, str]
Rule = Callable[[Described, Mapping[str, Any]], Seen]
_LOAD_BYTES = 16  # that tensor cores' operands are loaded in. Source: cuBLAS documentation, "Tensor Core Usage"
_MOST_REGISTERS = 255  # of a thread, from compute capability 3.5 on: CUDA C++ Programming Guide


def _number(described: Described, field: str) -> float:
    value = described[field]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FieldError(f"{field} must be a number, got {str(value)[:40]!r}")
    not_negative(**{field: value})
    return float(value)


def _told(value: float, item: Mapping[str, Any]) -> str:
    """Shares as percent, ratios above 1 as they are."""
    is_share = item["limit"] <= 1
    return format_percent(value) if is_share else f"{value:.3g}"


def _share(described: Described, item: Mapping[str, Any]) -> float:
    value = _number(described, item["field"])
    if item["limit"] < 1 and value > 1:
        raise FieldError(f"{item['field']} must be a share from 0 to 1, got {value:g}")
    return value


def at_least(described: Described, item: Mapping[str, Any]) -> Seen:
    """A share that must reach the limit."""
    value = _share(described, item)
    right = f"right would be at least {_told(item['limit'], item)}"
    return value >= item["limit"], f"{_told(value, item)} {item['shown']}; {right}"


def at_most(described: Described, item: Mapping[str, Any]) -> Seen:
    """A share or ratio that must not be above the limit."""
    value = _share(described, item)
    right = f"right would be at most {_told(item['limit'], item)}"
    return value <= item["limit"], f"{_told(value, item)} {item['shown']}; {right}"


def multiple(described: Described, item: Mapping[str, Any]) -> Seen:
    """A whole number of some unit."""
    value = extent(item["field"], described[item["field"]])
    unit, rest = item["of"], value % item["of"]
    if not rest:
        return True, f"{value} {item['shown']}, {value // unit} times {unit}"
    idle = unit - rest
    return False, f"{value} {item['shown']}: {idle} of {value + idle} lanes idle; right would be a multiple of {unit}"


def yes(described: Described, item: Mapping[str, Any]) -> Seen:
    """What must be true."""
    holds = truth(item["field"], described[item["field"]])
    return holds, f"{item['shown']}: {'yes' if holds else 'no'}"


def none(described: Described, item: Mapping[str, Any]) -> Seen:
    """A count that should be 0."""
    value = _number(described, item["field"])
    return value == 0, f"{value:g} {item['shown']}; right would be 0"


def one(described: Described, item: Mapping[str, Any]) -> Seen:
    """A count that should be 1."""
    value = extent(item["field"], described[item["field"]])
    return value == 1, f"{value} {item['shown']}; right would be 1"


def one_of(described: Described, item: Mapping[str, Any]) -> Seen:
    """A name among those that are good."""
    value = name_of(item["field"], described[item["field"]])
    known = item["values"]
    return value in known, f"{value} {item['shown']}; right would be {' or '.join(known[:3])}"


def registers(described: Described, item: Mapping[str, Any]) -> Seen:
    """Registers of a thread, of which a compiler spills what is above the most."""
    value = extent(item["field"], described[item["field"]])
    return value < _MOST_REGISTERS, f"{value} registers a thread; at {_MOST_REGISTERS} the rest is spilled to memory"


def fills_gpu(described: Described, _item: Mapping[str, Any]) -> Seen:
    """Whether a grid has a CTA for each SM."""
    ctas = count("grid_ctas", described["grid_ctas"], MOST_ELEMENTS)
    with named("gpu"):
        gpu = hardware.gpu(name_of("gpu", described["gpu"]))
    return ctas >= gpu.num_sms, f"{ctas:,} CTAs on {gpu.num_sms} SMs of {gpu.key}"


def aligned(described: Described, _item: Mapping[str, Any]) -> Seen:
    """Whether rows of operands begin at addresses that are loaded at once."""
    dtype: DType = dtype_of("dtype", described["dtype"])
    unit = max(1, int(_LOAD_BYTES / dtype.activations.bytes))
    sizes = {name: extent(f"gemm_{name}", described[f"gemm_{name}"]) for name in ("n", "k")}
    bad = [f"{name} = {value}" for name, value in sizes.items() if value % unit]
    if bad:
        return False, f"{' and '.join(bad)} in {dtype}: right would be multiples of {unit}"
    return True, f"n = {sizes['n']} and k = {sizes['k']} are multiples of {unit}"


def fragmented(described: Described, item: Mapping[str, Any]) -> Seen:
    """What an allocator holds and does not hand out."""
    reserved, used = (_number(described, name) for name in ("reserved_bytes", "allocated_bytes"))
    if not 0 < used <= reserved:
        raise FieldError(f"allocated_bytes must be above 0 and up to reserved_bytes ({reserved:g}), got {used:g}")
    part = 1 - used / reserved
    right = f"right would be at most {format_percent(item['limit'])}"
    return part <= item["limit"], f"{format_percent(part)} of what is reserved is not handed out; {right}"


def message_size(described: Described, item: Mapping[str, Any]) -> Seen:
    """Whether a message is large enough for a ring: against a tree each of whose hops sends all of it."""
    size = count("message_bytes", described["message_bytes"], MOST_ELEMENTS)
    ranks = extent("ranks", described["ranks"])
    if ranks < 2:
        raise FieldError(f"ranks must be 2 or more, got {ranks}")
    ring, tree = message_times(size, ranks, item["alpha_s"], item["bytes_per_s"])
    times = (
        f"{format_quantity(size, 'B')} over {ranks} ranks: {format_time(ring)} on a ring, {format_time(tree)} on a tree"
    )
    if name_of("algorithm", described["algorithm"]) != "ring":
        return True, f"{times}, and no ring is used"
    return ring <= item["limit"] * tree, times


def balanced(described: Described, item: Mapping[str, Any]) -> Seen:
    """Mean over most of what ranks compute."""
    times = described[item["field"]]
    if not isinstance(times, list) or any(isinstance(t, bool) or not isinstance(t, int | float) for t in times):
        raise FieldError(f"{item['field']} must be a list of times, got {str(times)[:40]!r}")
    all_positive(item["field"], times)
    part = sum(times) / len(times) / max(times)
    right = f"right would be at least {format_percent(item['limit'])}"
    return part >= item["limit"], f"{format_percent(part)} {item['shown']}; {right}"


RULES: Mapping[str, Rule] = {
    rule.__name__: rule
    for rule in (
        at_least, at_most, multiple, yes, none, one, one_of, registers, fills_gpu, aligned, fragmented, message_size,
        balanced,
    )
}  # fmt: skip
