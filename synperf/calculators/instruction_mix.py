"""How long each pipe of an SM takes for what a kernel asks of it, which of them is the limit, and how well it is used.

Source: NVIDIA, CUDA C++ Programming Guide, "Arithmetic Instructions" (throughput per clock and SM), and white papers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..errors import FieldError, UnsupportedError
from ..hardware import GPU, DType
from ..units import format_percent, format_quantity, format_time
from .amounts import not_negative, positive

_TIED = 0.1  # pipes that take that much less than the slowest limit a kernel beside it
_MATH = ("tensor", "fma")  # pipes whose operations are FLOP
_HELPS = {  # what helps a pipe that is the limit
    "fma": "write a product and a sum as one multiply-add, pack two halves (half2), or use tensor cores",
    "xu": "compute some of the exponentials as polynomials on the FMA pipe, or fewer of them",
    "shared": "use wider accesses (16 bytes a thread) and keep values in registers",
    "issue": "use wider (vector) instructions, unroll loops, and predicate short branches",
    "tensor": "only fewer products help, or a narrower format",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PipeUse:
    """`amount` over `per_clk_per_sm` is `cycles` of one SM; `utilization` is of all SMs over the measured time."""

    amount: float
    per_clk_per_sm: float
    cycles: float
    of_limit: float
    utilization: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionMix:
    """`pipes` by name; `limiters` are the slowest, and those that take nearly as long.

    `rates` are what an SM of the GPU does in a clock, `balance` is the second slowest pipe over the slowest. With a
    measured time `flop_per_s` and `flop_utilization` are of the pipe that has the most FLOP, and `ipc` is of one SM.
    """

    gpu: str
    dtype: str
    rates: Mapping[str, float]
    pipes: Mapping[str, PipeUse]
    limiters: tuple[str, ...]
    cycles: float
    balance: float
    took_s: float | None
    flop_per_s: float | None
    peak_flop_per_s: float | None
    flop_utilization: float | None
    ipc: float | None
    why: tuple[str, ...]
    advice: tuple[str, ...]


def instruction_mix(
    gpu: GPU,
    *,
    dtype: DType = DType.BF16,
    tensor_flop: float = 0.0,
    fma_flop: float = 0.0,
    xu_op: float = 0.0,
    shared_bytes: float = 0.0,
    instructions: float = 0.0,
    took_s: float | None = None,
) -> InstructionMix:
    """Counts of one unit of work, or of a whole kernel, which `took_s` is the time of; `instructions` are of warps.

    Raises:
        FieldError: a number is out of range, or nothing is counted.
        UnsupportedError: the GPU's tensor cores do not take the format.
    """
    amounts = {"tensor": tensor_flop, "fma": fma_flop, "xu": xu_op, "shared": shared_bytes, "issue": instructions}
    not_negative(tensor_flop=tensor_flop, fma_flop=fma_flop, xu_op=xu_op, shared_bytes=shared_bytes)
    not_negative(instructions=instructions)
    if not any(amounts.values()):
        fields = "tensor_flop, fma_flop, xu_op, shared_bytes or instructions"
        raise FieldError(f"tensor_flop: nothing is counted; right would be {fields} above 0")
    if took_s is not None:
        positive(took_s=took_s)
    rates = _rates(gpu, dtype, tensor_flop > 0)
    elapsed = None if took_s is None else gpu.num_sms * gpu.clock_hz * took_s
    pipes = _pipes({name: amount for name, amount in amounts.items() if amount}, rates, elapsed)
    return _result(gpu, dtype, rates, pipes, took_s)


def _pipes(amounts: Mapping[str, float], rates: Mapping[str, float], elapsed: float | None) -> dict[str, PipeUse]:
    """Each pipe that something is asked of; `elapsed` are cycles of all SMs."""
    cycles = {name: amount / rates[name] for name, amount in amounts.items()}
    longest = max(cycles.values())
    return {
        name: PipeUse(
            amount=amount,
            per_clk_per_sm=rates[name],
            cycles=cycles[name],
            of_limit=cycles[name] / longest,
            utilization=None if elapsed is None else cycles[name] / elapsed,
        )
        for name, amount in amounts.items()
    }


def _rates(gpu: GPU, dtype: DType, with_tensor: bool) -> dict[str, float]:
    """What one SM does in a clock: FLOP, operations, bytes, instructions of warps."""
    tensor = gpu.tensor_flop_per_clk_per_sm
    if with_tensor and dtype.rate not in tensor:
        known = ", ".join(tensor) or "none"
        raise UnsupportedError(f"dtype: {gpu.name} has no {dtype} tensor cores; right would be one of: {known}")
    found = {"tensor": tensor[dtype.rate]} if dtype.rate in tensor else {}
    return found | {
        "fma": gpu.fma_flop_per_clk_per_sm[DType.FP32],
        "xu": gpu.xu_op_per_clk_per_sm,
        "shared": gpu.shared_bytes_per_clk_per_sm,
        "issue": float(gpu.sm.warp_unit),
    }


def _result(
    gpu: GPU, dtype: DType, rates: Mapping[str, float], pipes: Mapping[str, PipeUse], took_s: float | None
) -> InstructionMix:
    order = sorted(pipes, key=lambda name: -pipes[name].cycles)
    limiters = tuple(name for name in order if pipes[name].of_limit > 1 - _TIED)
    math = max((pipes[name] for name in pipes if name in _MATH), key=lambda pipe: pipe.amount, default=None)
    measured = math is not None and took_s is not None
    return InstructionMix(
        gpu=gpu.name,
        dtype=dtype,
        rates=rates,
        pipes=pipes,
        limiters=limiters,
        cycles=pipes[order[0]].cycles,
        balance=pipes[order[1]].of_limit if len(order) > 1 else 0.0,
        took_s=took_s,
        flop_per_s=math.amount / took_s if math is not None and took_s is not None else None,
        peak_flop_per_s=math.per_clk_per_sm * gpu.num_sms * gpu.clock_hz if math is not None and measured else None,
        flop_utilization=None if math is None else math.utilization,
        ipc=_ipc(pipes.get("issue")),
        why=tuple(_why(gpu, pipes, order, took_s)),
        advice=tuple(_advice(gpu, dtype, pipes, limiters)),
    )


def _ipc(issue: PipeUse | None) -> float | None:
    """Instructions of warps in a clock of one SM, if they are counted and timed."""
    return None if issue is None or issue.utilization is None else issue.utilization * issue.per_clk_per_sm


def _why(gpu: GPU, pipes: Mapping[str, PipeUse], order: list[str], took_s: float | None) -> Iterator[str]:
    for name in order:
        pipe = pipes[name]
        yield (
            f"{name}: {pipe.amount:.6g} at {pipe.per_clk_per_sm:g} a clock and SM are {pipe.cycles:.4g} cycles"
            + ("" if pipe.utilization is None else f", {format_percent(pipe.utilization)} of all SMs' in that time")
        )
    if len(order) > 1:
        first, second = pipes[order[0]], pipes[order[1]]
        yield f"{order[0]} to {order[1]} is {first.cycles / second.cycles:.3g} to 1, if they overlap perfectly"
    if took_s is not None and pipes[order[0]].utilization is not None:
        busiest = pipes[order[0]]
        least = busiest.cycles / (gpu.num_sms * gpu.clock_hz)
        clock = format_quantity(gpu.clock_hz, "Hz")
        yield f"{order[0]} alone takes {format_time(least)} of {format_time(took_s)} at {clock}"
        if least > took_s:
            yield "that is more than the whole: a count is too large, or the time of another kernel"


def _advice(gpu: GPU, dtype: DType, pipes: Mapping[str, PipeUse], limiters: tuple[str, ...]) -> Iterator[str]:
    if "tensor" in limiters:
        yield from _narrower(gpu, dtype, pipes)
    for name in limiters:
        yield f"{name} is the limit: {_HELPS[name]}"
    if len(limiters) > 1:
        yield f"{' and '.join(limiters)} take about as long: both have to become less, and to overlap"


def _narrower(gpu: GPU, dtype: DType, pipes: Mapping[str, PipeUse]) -> Iterator[str]:
    """What each faster format of the tensor cores would give, with the pipe that is the limit then."""
    others = {name: pipe.cycles for name, pipe in pipes.items() if name != "tensor"}
    for other, rate in gpu.tensor_flop_per_clk_per_sm.items():
        if rate <= gpu.tensor_flop_per_clk_per_sm[dtype.rate]:
            continue
        cycles = pipes["tensor"].amount / rate
        then = others | {"tensor": cycles}
        longest = max(then.values())
        limits = " and ".join(name for name, took in then.items() if took > longest * (1 - _TIED))
        yield f"{other}: {cycles:.4g} tensor cycles, {longest:.4g} in all; then {limits} would be the limit"
