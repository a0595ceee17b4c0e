"""Whether warpgroups that hand registers to each other find them, or wait for ever.

A CTA is launched with as many registers for every thread. A producer warpgroup gives some back (`setmaxnreg.dec`), and
consumers ask for more (`setmaxnreg.inc`), which blocks until so many are free in what the CTA was launched with.

Source: NVIDIA, "Parallel Thread Execution ISA", `setmaxnreg`; registers at launch: `scheduling/occupancy.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import FieldError, UnsupportedError
from ..hardware import GPU
from ..hardware.capability import ComputeCapability, major_minor
from ..scheduling.occupancy import occupancies
from .amounts import count

THREADS = 128  # of a warpgroup: four warps
_FIRST = (9, 0)  # the compute capability that the instruction came with
_LEAST, _MOST, _STEP = 24, 256, 8  # registers that the instruction takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Registers of a thread in each warpgroup of a CTA.

    `total` is what all of them hold, of `available`: what a CTA of that size can be launched with at most.
    `launch_registers` is what each thread has to be launched with, the mean in whole units; `fits` whether a CTA may.
    `largest` is the most that the warpgroups with most registers could ask for beside the others.
    """

    registers: tuple[int, ...]
    threads: int
    total: int
    available: int
    launch_registers: int
    most_launch_registers: int
    fits: bool
    largest: int | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Warpgroups:
    """Some layouts of one kernel, on an SM of `register_file` registers."""

    register_file: int
    layouts: tuple[Layout, ...]
    why: tuple[str, ...]
    advice: tuple[str, ...]


def warpgroups(device: GPU | ComputeCapability, layouts: Sequence[Sequence[float]]) -> Warpgroups:
    """Each layout: the registers of a thread in every warpgroup, after they were handed over.

    Raises:
        FieldError: no layout, more warpgroups than a CTA has, or a number that the instruction does not take.
        UnsupportedError: the GPU does not have it.
    """
    sm = device.sm if isinstance(device, GPU) else device
    if major_minor(sm.key) < _FIRST:
        raise UnsupportedError(f"gpu: compute capability {sm.key} has no setmaxnreg, which came with 9.0")
    if not layouts:
        raise FieldError("layout: none given; right would be 40,232,232")
    found = tuple(_layout(sm, _checked(sm, at, one)) for at, one in enumerate(layouts))
    return Warpgroups(
        register_file=sm.registers_per_sm,
        layouts=found,
        why=tuple(one.why for one in found),
        advice=tuple(_advice(one) for one in found),
    )


def _checked(sm: ComputeCapability, at: int, layout: Sequence[float]) -> tuple[int, ...]:
    most = sm.max_threads_per_cta // THREADS
    if not 1 <= len(layout) <= most:
        raise FieldError(f"layout[{at}] must have from 1 to {most} warpgroups of {THREADS} threads, got {len(layout)}")
    found = tuple(count(f"layout[{at}][{place}]", value) for place, value in enumerate(layout))
    for place, value in enumerate(found):
        if not _LEAST <= value <= _MOST or value % _STEP:
            raise FieldError(
                f"layout[{at}][{place}] must be a multiple of {_STEP} from {_LEAST} to {_MOST}, got {value}"
            )
    return found


def _layout(sm: ComputeCapability, registers: tuple[int, ...]) -> Layout:
    threads, groups = THREADS * len(registers), len(registers)
    most = _most_at_launch(sm, threads)
    total, available = THREADS * sum(registers), threads * most
    mean = -(-sum(registers) // (groups * _STEP)) * _STEP
    fits = total <= available
    return Layout(
        registers=registers,
        threads=threads,
        total=total,
        available=available,
        launch_registers=mean,
        most_launch_registers=most,
        fits=fits,
        largest=_largest(registers, most),
        why=_why(registers, total, available, mean, most),
    )


def _most_at_launch(sm: ComputeCapability, threads: int) -> int:
    """Registers of a thread with which a CTA of that size can be launched, in the unit of the instruction."""
    at = np.arange(_STEP, sm.max_registers_per_thread + 1, _STEP)
    held = occupancies(sm, threads, at, 0).ctas_per_sm
    return int(at[held > 0].max())


def _largest(registers: tuple[int, ...], most: int) -> int | None:
    """The most for the warpgroups that ask for most, if the others stay; None where there is no room at all."""
    highest = max(registers)
    asking = registers.count(highest)
    room = most * len(registers) - (sum(registers) - asking * highest)
    found = min(room // asking // _STEP * _STEP, _MOST)
    return found if found >= _LEAST else None


def shown(registers: Sequence[int]) -> str:
    """`24 + 240 + 240`."""
    return " + ".join(map(str, registers))


def _why(registers: tuple[int, ...], total: int, available: int, mean: int, most: int) -> str:
    sums = f"{THREADS} x ({shown(registers)}) = {total:,} registers"
    if total <= available:
        return f"{sums} fit {available:,}: a launch with {mean} a thread, the mean, reserves them, as it should be"
    return (
        f"{sums} are more than the {available:,} that {len(registers) * THREADS} threads can be launched with "
        f"({most} each): the last request waits for ever"
    )


def _advice(one: Layout) -> str:
    said = shown(one.registers)
    if one.largest is None:
        return f"{said}: fewer warpgroups, since no request fits beside the others"
    asking = one.registers.count(max(one.registers))
    ask = f"{asking} warpgroup{'' if asking == 1 else 's'} can ask for {one.largest} at most"
    return f"{said}: {ask}, of the {one.available:,} at launch"
