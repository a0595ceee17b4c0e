"""How much memory tensors need that do not all live at once: the peak of what is alive, and a plan of offsets.

Placement is greedy by size: the largest first, each into the smallest gap between the tensors that live at the same
time and are placed already.

Source: Y. Pisarchyk and J. Lee, "Efficient Memory Management for Deep Neural Net Inference", arXiv 2001.03288.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import FieldError
from ..kernels.fields import MOST_ELEMENTS
from ..units import format_percent, format_quantity
from .amounts import count, extent

_MOST = 20_000  # tensors of one question


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """Bytes that are needed from one step to another, both included; steps are counted from 0."""

    name: str
    bytes: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Where a tensor lies in the pool."""

    name: str
    bytes: int
    first: int
    last: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPool:
    """`peak_bytes` are alive at once at `peak_step`, and no plan is below it; this plan's pool has `pool_bytes`."""

    tensors: tuple[Placed, ...]
    without_reuse_bytes: int
    peak_bytes: int
    peak_step: int
    pool_bytes: int
    fragmentation: float  # of the pool, above the peak
    why: tuple[str, ...]
    advice: tuple[str, ...]


def chain(sizes: Sequence[int]) -> tuple[Tensor, ...]:
    """Tensors that follow from one another: each is written in its step and read in the next."""
    last = len(sizes) - 1
    return tuple(
        Tensor(name=_letter(place), bytes=size, first=place, last=min(place + 1, last))
        for place, size in enumerate(sizes)
    )


def memory_pool(tensors: Sequence[Tensor], *, alignment: int = 1) -> MemoryPool:
    """The peak and a plan; every tensor takes a multiple of `alignment` bytes.

    Raises:
        FieldError: no tensor, two of one name, bytes that are not whole, or one that ends before it begins.
    """
    if not 1 <= len(tensors) <= _MOST:
        raise FieldError(f"tensors must be from 1 to {_MOST:,}, got {len(tensors):,}")
    unit = extent("alignment", alignment)
    checked = [_checked(one, unit) for one in tensors]
    if len({one.name for one in checked}) < len(checked):
        raise FieldError("tensors: two have the same name; right would be one name for each")
    placed = _plan(checked)
    without = sum(one.bytes for one in checked)
    peak, step = _peak(checked)
    pool = max(one.offset + one.bytes for one in placed)
    alive = [one.name for one in checked if one.first <= step <= one.last]
    return MemoryPool(
        tensors=placed,
        without_reuse_bytes=without,
        peak_bytes=peak,
        peak_step=step,
        pool_bytes=pool,
        fragmentation=pool / peak - 1,
        why=(
            f"{len(alive)} of {len(checked)} tensors are alive at once at step {step}, {_size(peak)}: {_listed(alive)}",
            f"without reuse all take {_size(without)}; the plan takes {_size(pool)}"
            + (", and none can take less" if pool == peak else f", {format_percent(pool / peak - 1)} above the peak"),
        ),
        advice=_advice(checked, step, peak),
    )


def _checked(one: Tensor, unit: int) -> Tensor:
    size = count(f"bytes of {one.name}", one.bytes, MOST_ELEMENTS)
    if not 0 <= one.first <= one.last:
        raise FieldError(f"{one.name}: lives from step {one.first} to {one.last}; right would be 0 <= first <= last")
    return Tensor(name=one.name, bytes=-(-size // unit) * unit, first=one.first, last=one.last)


def _plan(tensors: Sequence[Tensor]) -> tuple[Placed, ...]:
    """Offsets, in the order of the question."""
    done: dict[str, Placed] = {}
    for one in sorted(tensors, key=lambda t: (-t.bytes, t.first)):
        beside = sorted(
            (other for other in done.values() if other.first <= one.last and one.first <= other.last),
            key=lambda other: other.offset,
        )
        done[one.name] = Placed(
            name=one.name, bytes=one.bytes, first=one.first, last=one.last, offset=_best_gap(one.bytes, beside)
        )
    return tuple(done[one.name] for one in tensors)


def _best_gap(size: int, beside: Sequence[Placed]) -> int:
    """The start of the smallest gap that is large enough, or the end of all."""
    end, best, narrowest = 0, None, None
    for other in beside:
        gap = other.offset - end
        if gap >= size and (narrowest is None or gap < narrowest):
            best, narrowest = end, gap
        end = max(end, other.offset + other.bytes)
    return end if best is None else best


def _peak(tensors: Sequence[Tensor]) -> tuple[int, int]:
    """The most bytes alive at once, and the first step at which they are."""
    changes: dict[int, int] = {}
    for one in tensors:
        changes[one.first] = changes.get(one.first, 0) + one.bytes
        changes[one.last + 1] = changes.get(one.last + 1, 0) - one.bytes
    alive, best, at = 0, 0, 0
    for step in sorted(changes):
        alive += changes[step]
        if alive > best:
            best, at = alive, step
    return best, at


def _advice(tensors: Sequence[Tensor], step: int, peak: int) -> tuple[str, ...]:
    """Which tensor, if it were not there at the peak, would lower it most."""
    lowered = {
        one.name: _peak([other for other in tensors if other is not one])[0]
        for one in sorted(tensors, key=lambda t: -t.bytes)[:16]
        if one.first <= step <= one.last and len(tensors) > 1
    }
    if not lowered or min(lowered.values()) >= peak:
        return ("no single tensor holds the peak: several must be computed again, written in place or kept elsewhere",)
    name = min(lowered, key=lambda one: lowered[one])
    return (f"{name} written in place, computed again or kept elsewhere at step {step} lowers the peak to "
            f"{_size(lowered[name])}",)  # fmt: skip


def _size(value: int) -> str:
    return format_quantity(value, "B", 4)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _letter(place: int) -> str:
    return chr(ord("a") + place) if place < 26 else f"t{place}"
