"""Whether to fuse a chain of operators into one kernel: accesses saved, what it costs in registers, and the time.

The decision takes four steps: bytes that need not move, registers that a thread needs more, occupancy that this costs,
and the time before and after, which is what decides. A fused kernel takes the longer of its memory time and of the
first operator's own time, the latter stretched by the occupancy that is lost:
`max(memory, compute * occupancy before / occupancy after)`.

Folding: at inference a batch norm is a factor and an offset of each channel, which the weights before it can hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import api
from ..errors import FieldError
from ..hardware import GPU, DType
from ..kernels.elementwise import Elementwise
from ..kernels.fields import MOST_ELEMENTS, dtype_of
from ..scheduling.occupancy import Occupancy, occupancy
from ..units import format_percent, format_quantity, format_time
from .amounts import count as counted
from .amounts import count_or_none, extent, positive
from .fusion_chain import Access, Operator, apart, chain, fused

_FOLDS = ("conv", "gemm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusion:
    """Accesses are elements read or written for each element of the result; bytes are of all elements.

    Times, of all kernels, are None without a GPU, and without `head_s` where the first operator computes from operands
    of its own. Occupancies are None without registers.
    """

    chain: tuple[str, ...]
    elements: int
    dtype: DType
    before: tuple[Access, ...]
    after: tuple[Access, ...]
    accesses_before: int
    accesses_after: int
    bytes_saved_per_element: float
    bytes_saved: float
    launches_before: int
    launches_after: int
    launches_saved: int
    registers_added: int
    occupancy_before: float | None
    occupancy_after: float | None
    time_before_s: float | None
    time_after_s: float | None
    folds: tuple[str, ...]
    decision: str
    why: tuple[str, ...]
    advice: tuple[str, ...]


def fusion(
    names: Sequence[str],
    *,
    elements: int,
    dtype: DType | str = DType.BF16,
    gpu: GPU | None = None,
    head_s: float | None = None,
    threads: int = 256,
    registers: int | None = None,
    registers_after: int | None = None,
    shared_bytes: int = 0,
) -> Fusion:
    """What fusing this chain saves and costs.

    Args:
        names: operators of fusion_ops.toml, the first to the last.
        elements: of the result.
        dtype: of every element that is read or written.
        gpu: for times and occupancy.
        head_s: the first operator's own time, where it computes from operands of its own (a convolution, a GEMM).
        threads, registers, shared_bytes: of its CTAs, before anything is fused into it.
        registers_after: of the fused kernel, as a compiler reports it, in the place of a count over the operators.

    Raises:
        FieldError: a number out of range, or an operator in the wrong place.
        UnknownNameError: no such operator.
    """
    ops, count, kind = chain(names), counted("elements", elements, MOST_ELEMENTS), dtype_of("dtype", dtype)
    if head_s is not None:
        positive(head_s=head_s)
    before, after = apart(ops), fused(ops)
    accesses = _total(before), _total(after)
    saved = (accesses[0] - accesses[1]) * kind.bytes
    added = _added(ops, registers, registers_after)
    held = _occupancies(gpu, threads, registers, added, shared_bytes)
    is_timed = gpu is not None and (ops[0].kind != "head" or head_s is not None)
    times = _times(ops, before, after, count, kind, gpu, head_s or 0.0, held) if gpu is not None and is_timed else None
    rows = [one.name for one in ops[1:] if one.kind == "row"] if ops[0].kind == "head" else []
    decision = _decision(rows, times, held)
    folds = ("bn",) if ops[0].name in _FOLDS and ops[1].name == "bn" else ()
    return Fusion(
        chain=tuple(names),
        elements=count,
        dtype=kind,
        before=before,
        after=after,
        accesses_before=accesses[0],
        accesses_after=accesses[1],
        bytes_saved_per_element=saved,
        bytes_saved=saved * count,
        launches_before=len(ops),
        launches_after=1,
        launches_saved=len(ops) - 1,
        registers_added=added,
        occupancy_before=None if held is None else held[0].occupancy,
        occupancy_after=None if held is None else held[1].occupancy,
        time_before_s=None if times is None else times[0],
        time_after_s=None if times is None else times[1],
        folds=folds,
        decision=decision,
        why=tuple(_why(accesses, saved, count, len(ops), added, held, times, rows)),
        advice=tuple(_advice(ops, folds, held, decision, rows)),
    )


def _added(ops: Sequence[Operator], registers: int | None, registers_after: int | None) -> int:
    if registers_after is None:
        return sum(one.registers for one in ops[1:])
    if registers is None:
        raise FieldError("registers: none given; right would be --registers N, before anything is fused")
    return extent("registers_after", registers_after) - extent("registers", registers)


def _total(accesses: Sequence[Access]) -> int:
    return sum(one.reads + one.writes for one in accesses)


def _occupancies(
    gpu: GPU | None, threads: int, registers: int | None, added: int, shared_bytes: int
) -> tuple[Occupancy, Occupancy] | None:
    """Before and after; registers beyond what a thread may have are spilled, and do not count."""
    if registers is None:
        return None
    if gpu is None:
        raise FieldError("gpu: none given; right would be --gpu NAME, whose SM the registers are of")
    size, before = extent("threads", threads), extent("registers", registers)
    shared = count_or_none("shared_bytes", shared_bytes)
    after = min(before + added, gpu.max_registers_per_thread)
    return occupancy(gpu, size, before, shared), occupancy(gpu, size, after, shared)


def _times(
    ops: Sequence[Operator],
    before: Sequence[Access],
    after: Sequence[Access],
    elements: int,
    dtype: DType,
    gpu: GPU,
    head_s: float,
    held: tuple[Occupancy, Occupancy] | None,
) -> tuple[float, float]:
    """Seconds of all kernels, apart and fused."""
    has_head = ops[0].kind == "head"
    alone = sum(
        _pass_s(access, op.flop, elements, dtype, gpu)
        for op, access in zip(ops[has_head:], before[has_head:], strict=True)
    )
    reads, writes = sum(one.reads for one in after), sum(one.writes for one in after)
    if not has_head:
        together = Access(name="fused", reads=reads, writes=writes)
        return alone, _pass_s(together, sum(one.flop for one in ops), elements, dtype, gpu)
    stretched = head_s * (held[0].occupancy / held[1].occupancy if held and held[1].occupancy else 1.0)
    moved = (reads + writes) * elements * dtype.bytes / gpu.dram_bytes_per_s
    return head_s + alone, max(stretched, moved)


def _pass_s(access: Access, flop: int, elements: int, dtype: DType, gpu: GPU) -> float:
    call = Elementwise(
        elements=elements, inputs=access.reads, outputs=access.writes, dtype=dtype, flop_per_element=max(1, flop)
    )
    return float(api.predict(call, gpu).time_s)


def _decision(rows: Sequence[str], times: tuple[float, float] | None, held: tuple[Occupancy, Occupancy] | None) -> str:
    if held is not None and not held[1].ctas_per_sm:
        return "do not fuse"
    if times is not None and times[1] >= times[0]:
        return "do not fuse"
    return "fuse if one CTA holds whole rows" if rows else "fuse"


def _why(
    accesses: tuple[int, int],
    saved: float,
    elements: int,
    kernels: int,
    added: int,
    held: tuple[Occupancy, Occupancy] | None,
    times: tuple[float, float] | None,
    rows: Sequence[str],
) -> list[str]:
    said = [
        f"{accesses[0]} accesses for each element become {accesses[1]}: {saved:g} bytes less, "
        f"{format_quantity(saved * elements, 'B', 4)} in all, and {kernels} kernels become 1"
    ]
    if held is not None:
        said.append(f"{added} registers more for each thread: occupancy {format_percent(held[0].occupancy)} becomes "
                    f"{format_percent(held[1].occupancy)}")  # fmt: skip
    if times is not None:
        said.append(_compared(*times))
    if rows:
        said.append(f"{rows[0]} needs whole rows of the result: a CTA must hold all columns of its rows")
    return said


def _compared(before_s: float, after_s: float) -> str:
    if after_s < before_s:
        return f"{format_time(before_s)} become {format_time(after_s)}, {before_s / after_s:.3g} times faster"
    return f"{format_time(before_s)} would become {format_time(after_s)}"


def _advice(
    ops: Sequence[Operator],
    folds: Sequence[str],
    held: tuple[Occupancy, Occupancy] | None,
    decision: str,
    rows: Sequence[str],
) -> list[str]:
    said = []
    if folds:
        rest = ", ".join(one.name for one in ops[2:]) or "nothing"
        said.append(
            f"at inference bn folds into the weights of {ops[0].name} and costs nothing; {rest} is left to fuse"
        )
    if held is not None and held[1].occupancy < held[0].occupancy:
        said.append("limit the registers of the fused kernel (__launch_bounds__) if it does not spill then")
    if rows:
        said.append(f"or keep {rows[0]} apart, and fuse what stands before and after it")
    if decision == "do not fuse":
        said.append("keep the kernels apart; a CUDA graph saves the gaps between their launches")
    return said or ["a compiler does this (torch.compile, XLA, TensorRT), or an epilogue of the GEMM library"]


def fold_batch_norm(
    weight: np.ndarray, bias: np.ndarray | None, *, gamma: np.ndarray, beta: np.ndarray, mean: np.ndarray,
    variance: np.ndarray, eps: float = 1e-5,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Weights and bias of a convolution or linear layer that do what it and the batch norm after it do.

    The first axis of `weight` is the output channel, of which all others have one value each.

    Raises:
        FieldError: lengths differ, or a variance is negative.
    """
    channels = weight.shape[0]
    for name, values in (("gamma", gamma), ("beta", beta), ("mean", mean), ("variance", variance), ("bias", bias)):
        if values is not None and values.shape != (channels,):
            raise FieldError(f"{name} must have {channels} values, one for each channel, got shape {values.shape}")
    if (variance + eps <= 0).any():
        raise FieldError("variance must not be negative")
    factor = gamma / np.sqrt(variance + eps)
    offset = np.zeros(channels) if bias is None else bias
    return weight * factor.reshape(-1, *[1] * (weight.ndim - 1)), beta + (offset - mean) * factor
