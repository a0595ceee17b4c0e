"""From the class of calls of a memory-bound family, and what a call of it must do, to the family."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..hardware import GPU, DType
from ..hardware.launch import SHORTEST
from ..numeric import Number, is_array
from ..scheduling import TaskGroups, occupancy
from ..units import format_binary, format_quantity
from .base import KernelFamily, Launch
from .memory_call import MemoryCall
from .memory_inputs import STEPPED, inputs
from .memory_tasks import Split, dram_bytes, flattened, missed, split, started, tasks
from .memory_traits import Style, l2_held_bytes, style
from .memory_work import Work, row_work

Describe = Callable[[Any], Work]
Beside = Callable[[Work, Split, GPU], dict[str, Number]]


def memory_family(
    example: MemoryCall,
    summary: str,
    work: Describe = row_work,
    shape: tuple[str, ...] = ("dim",),
    variant: Callable[[Any], str] = lambda _: "",
    beside: Beside = lambda *_: {},
    sizes: tuple[str, ...] = (),
    of_gpus: tuple[str, ...] = (),
) -> KernelFamily:
    """The family of a class of calls; `work` says what a call must read, write and compute.

    Its networks have inputs `beside` those of all such families; see `KernelFamily` for the fields that follow.
    """
    return KernelFamily(
        name=example.FAMILY,
        call_type=type(example),
        decompose=partial(_decompose, work),
        launch=partial(_launch, work),
        assumptions=partial(_assumptions, work),
        flop=partial(_flop, work),
        compulsory_bytes=partial(_compulsory_bytes, work),
        dram_bytes=partial(_dram_bytes, work),
        example=example,
        inputs=partial(_inputs, work, beside),
        stepped=STEPPED,
        sizes=lambda _: sizes,
        of_gpus=lambda _: of_gpus,
        shape=shape,
        variant=variant,
        math=_math,
        launches_like=SHORTEST,
        is_memory_bound=True,
        summary=summary,
    )


def _style(p: Any, gpu: GPU) -> Style:
    return style(p.FAMILY, gpu, p.dtype, p.engine, p.kernel)


def _decompose(work: Describe, p: Any, gpu: GPU) -> TaskGroups:
    """CTAs as one group whose work is that of the mean one."""
    k = _style(p, gpu)
    return tasks(flattened(work(p), k), k, gpu)


def _flop(work: Describe, p: Any) -> Number:
    """Useful FLOP, in fp32."""
    w = work(p)
    return w.values * w.flop


def _compulsory_bytes(work: Describe, p: Any) -> Number:
    """Every operand read once, the result written once."""
    return work(p).compulsory_bytes


def _dram_bytes(work: Describe, p: Any, gpu: GPU) -> Number:
    """What L2 does not hold of operands and result between a launch and the next."""
    return dram_bytes(work(p), _style(p, gpu), gpu)


def _math(_: Any) -> DType:
    """These kernels widen what they read and compute in fp32."""
    return DType.FP32


def _inputs(
    work: Describe, beside: Beside, p: Any, gpu: GPU, base_s: Number, clock_share: float  # noqa: ARG001
) -> dict[str, Number]:  # fmt: skip
    """What a network would see; no pipe of these kernels follows the clock of the tensor cores."""
    k = _style(p, gpu)
    w = flattened(work(p), k)
    s = split(w, k, gpu)
    return inputs(w, k, s, gpu, base_s, tasks(w, k, gpu).seen_waits_s) | beside(w, s, gpu)


def _launch(work: Describe, p: Any, gpu: GPU) -> Launch:
    """Grid, resources and shares of the CTAs of one call."""
    k = _style(p, gpu)
    w = work(p)
    s = split(flattened(w, k), k, gpu)
    threads = int(s.threads)
    ctas = started(k, s)
    choice = {"rows_per_cta": s.rows, "values_per_cta": s.rows * s.values, "vector_bytes": s.vector_bytes}
    return Launch(
        tiles=int(s.tasks),
        grid=(int(ctas), 1, 1),
        persistent=bool(ctas < s.tasks),
        threads=threads,
        registers=k.registers,
        shared_bytes=0,
        occupancy=occupancy(gpu, threads, k.registers, 0),
        choice={name: int(value) for name, value in choice.items()},
        choice_source=f"{k.kernel}'s",
        facts={"l2_missed": missed(w, gpu)},
    )


def _assumptions(work: Describe, p: Any, gpu: GPU) -> tuple[str, ...]:
    """Where operands are found."""
    return (_found_in(work(p), gpu),)


def _found_in(w: Work, gpu: GPU) -> str:
    """Whether operands and result are in L2: of columns of calls, the rule."""
    share, held = missed(w, gpu), format_binary(l2_held_bytes(gpu))
    if is_array(share):
        return f"l2: operands that fit in the {held} that L2 holds are found there, those of twice that are cold"
    size = format_quantity(w.compulsory_bytes, "B")
    if share == 0.0:
        return f"l2: operands and result, {size}, are found in L2, which holds {held}"
    if share == 1.0:
        return f"l2: operands and result, {size}, come cold out of DRAM; L2 holds {held}"
    return f"l2: {share:.0%} of operands and result, {size}, miss L2, which holds {held}"
