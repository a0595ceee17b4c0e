"""What it costs in communication that GPUs share every layer, and what it saves in time and memory.

Each layer sums two times over all ranks in a forward pass, after attention and after the MLP, and two times in a
backward pass; each sum is of a value per token and hidden dimension. Source: M. Shoeybi et al., "Megatron-LM",
arXiv:1909.08053.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import FieldError, PerfError
from ..hardware import GPU, DType
from ..models import Model, Plan, check, linear_parameters
from ..units import format_percent, format_quantity, format_time
from .allreduce import allreduce
from .amounts import count, positive

_SUMS = 2  # of a layer, in each direction
_BACKWARD = 2  # over the FLOP of the forward pass
_MOST_TP, _MOST_SIZE = 1024, 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """What tensor parallelism shares: `parameters` are those of the matrices of all `layers`."""

    hidden: int
    layers: int
    parameters: float

    def __post_init__(self) -> None:
        """Checks the fields.

        Raises:
            FieldError: one is not what it should be.
        """
        for name in ("hidden", "layers"):
            object.__setattr__(self, name, count(name, getattr(self, name), _MOST_SIZE))
        positive(parameters=self.parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Rates of a GPU and of its links: of a catalog's GPU, or given."""

    gpu: GPU | None = None
    link: str | None = None
    network: str | None = None
    flop_per_s: float | None = None
    latency_s: float | None = None
    bandwidth: float | None = None

    def compute_s(self, flop: float, dtype: DType) -> float:
        """The least time of so many FLOP.

        Raises:
            FieldError: no rate is known.
        """
        if self.flop_per_s is not None:
            positive(flop_per_s=self.flop_per_s)
            return flop / self.flop_per_s
        if self.gpu is None:
            raise FieldError("flop_per_s: none given; right would be --flop-per-s 989e12, or --gpu NAME")
        return flop / self.gpu.peak_flop_per_s(dtype)

    def allreduce_s(self, size: float, ranks: int) -> float:
        """The time of one sum over all ranks: predicted for the GPU, else that of a ring.

        Raises:
            PerfError: no links are known, or they do not join so many.
        """
        if ranks == 1:
            return 0.0
        given: dict[str, Any] = {"latency_s": self.latency_s, "bandwidth": self.bandwidth}
        found = allreduce(bytes=size, ranks=ranks, gpu=self.gpu, link=self.link, network=self.network, **given)
        own = found.predicted_s if self.latency_s is None and self.bandwidth is None else None
        return found.times["ring"] if own is None else own


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A forward pass on so many ranks; `compute_s` is at the peak rate, so communication has its largest share."""

    tp: int
    compute_s: float
    comm_s: float
    weights_bytes: float

    @property
    def total_s(self) -> float:
        """One after the other."""
        return self.compute_s + self.comm_s


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorParallel:
    """A forward pass of `tokens`. `comm_over_compute` is of it, `training_comm_over_compute` with the backward pass.

    `memory_saved` is the share of the weights that a rank does not hold, `by_tp` are other numbers of ranks.
    """

    tokens: int
    tp: int
    bytes_per_allreduce: float
    allreduces_forward: int
    allreduces_backward: int
    bytes_forward: float
    flop_forward: float
    allreduce_s: float
    comm_s: float
    compute_s: float
    comm_over_compute: float
    training_comm_over_compute: float
    memory_saved: float
    weights_bytes_per_gpu: float
    by_tp: tuple[Shared, ...]
    why: tuple[str, ...]
    advice: tuple[str, ...]
    assumptions: tuple[str, ...]


def layers_of(model: Model, tp: int) -> Layers:
    """The layers of a model.

    Raises:
        FieldError: its heads are not shared evenly by so many ranks.
    """
    check(model, Plan(tp=tp))
    return Layers(hidden=model.hidden, layers=model.num_layers, parameters=linear_parameters(model))


def tensor_parallel(
    layers: Layers, *, tp: int, tokens: int, machine: Machine, dtype: DType = DType.BF16
) -> TensorParallel:
    """The communication of a forward pass of `tokens` (batch times sequence) on `tp` ranks, beside its computation.

    Raises:
        FieldError: a number is not what it should be, or a rate is unknown.
        PerfError: the links do not join so many ranks.
    """
    ranks, length = count("tp", tp, _MOST_TP), count("tokens", tokens, _MOST_SIZE)
    size = length * layers.hidden * dtype.bytes
    sums = _SUMS * layers.layers
    here = _shared(layers, ranks, length, machine, dtype)
    others = tuple(_others(layers, ranks, length, machine, dtype))
    ratio = here.comm_s / here.compute_s
    return TensorParallel(
        tokens=length,
        tp=ranks,
        bytes_per_allreduce=size,
        allreduces_forward=sums,
        allreduces_backward=sums,
        bytes_forward=size * sums,
        flop_forward=2 * layers.parameters * length,
        allreduce_s=here.comm_s / sums,
        comm_s=here.comm_s,
        compute_s=here.compute_s,
        comm_over_compute=ratio,
        training_comm_over_compute=ratio * 2 / (1 + _BACKWARD),
        memory_saved=(ranks - 1) / ranks,
        weights_bytes_per_gpu=here.weights_bytes,
        by_tp=tuple(sorted((here, *others), key=lambda one: one.tp)),
        why=tuple(_why(layers, here, length, size)),
        advice=tuple(_advice(here, others)),
        assumptions=(
            "computation: the matrices of all layers at the peak rate, without the scores of attention and the head",
            "communication: hidden by nothing",
        ),
    )


def _shared(layers: Layers, tp: int, tokens: int, machine: Machine, dtype: DType) -> Shared:
    size = tokens * layers.hidden * dtype.bytes
    return Shared(
        tp=tp,
        compute_s=machine.compute_s(2 * layers.parameters * tokens / tp, dtype),
        comm_s=_SUMS * layers.layers * machine.allreduce_s(size, tp),
        weights_bytes=layers.parameters * dtype.bytes / tp,
    )


def _others(layers: Layers, tp: int, tokens: int, machine: Machine, dtype: DType) -> Iterator[Shared]:
    """Powers of two up to twice as many ranks, that the links join."""
    for power in range((2 * tp).bit_length()):
        ranks = 2**power
        if ranks == tp:
            continue
        try:
            yield _shared(layers, ranks, tokens, machine, dtype)
        except PerfError:  # more than one node has
            return


def _why(layers: Layers, here: Shared, tokens: int, size: float) -> Iterator[str]:
    sums = _SUMS * layers.layers
    yield (
        f"{tokens:,} tokens x {layers.hidden:,} values are {size:,.0f} bytes an all-reduce, two in each of "
        f"{layers.layers} layers: {sums} in a forward pass, {sums} more in a backward pass"
    )
    yield (
        f"{sums} all-reduces of {format_time(here.comm_s / sums)} are {format_time(here.comm_s)}, beside "
        f"{format_time(here.compute_s)} of computation: {format_percent(here.comm_s / here.total_s)} of the pass"
    )
    yield (
        f"each of {here.tp} ranks holds {format_quantity(here.weights_bytes, 'B')} of weights: "
        f"(t-1)/t = {format_percent((here.tp - 1) / here.tp)} less"
    )


def _advice(here: Shared, others: tuple[Shared, ...]) -> Iterator[str]:
    best = min((here, *others), key=lambda one: one.total_s)
    if best is not here:
        faster = here.total_s / best.total_s
        size = format_quantity(best.weights_bytes, "B")
        yield f"tp {best.tp}: {format_time(best.total_s)}, {faster:.3g} times faster, {size} of weights on each rank"
    else:
        yield f"no power of two up to tp {max(one.tp for one in (here, *others))} is faster"
    if here.comm_s:
        yield (
            f"hidden communication brings at most {format_time(here.total_s)} down to "
            f"{format_time(max(here.comm_s, here.compute_s))}; sequence parallelism sends as many bytes, and keeps "
            "fewer activations"
        )
