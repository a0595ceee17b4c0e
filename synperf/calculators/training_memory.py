"""What training a model takes of the memory of each GPU: states of its parameters, and activations.

Sources: as in `training_states.py` and `activations.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..errors import FieldError, UnknownNameError
from ..hardware import GPU
from ..units import format_binary, format_quantity
from . import activations as formulas
from .activations import FULL, RECOMPUTES, Shape
from .amounts import count, positive
from .training_states import ALL, LAST_STAGE, MIXED, NONE, OFFLOADS, OPTIMIZER, PRECISIONS

_MOST_WAYS = 65_536
_GATHERED = 2  # weights and gradients of the largest layer, in the format of passes. Source: DeepSpeed's estimator


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How a model is trained. `largest_layer` are parameters that ZeRO-3 gathers at once; `layers` go with `shape`."""

    parameters: float
    dp: int = 1
    zero: int = 0
    tp: int = 1
    pp: int = 1
    precision: str = MIXED
    offload: str = NONE
    largest_layer: float | None = None
    layers: int | None = None
    shape: Shape | None = None
    sequence_parallel: bool = False
    recompute: str = NONE
    flash: bool = False

    def __post_init__(self) -> None:
        """Checks the fields.

        Raises:
            FieldError: one is not what it should be, or does not go with another.
        """
        positive(parameters=self.parameters)
        for name in ("dp", "tp", "pp"):
            object.__setattr__(self, name, count(name, getattr(self, name), _MOST_WAYS))
        if self.zero not in range(LAST_STAGE + 1):
            raise FieldError(f"zero must be a stage from 0 (none) to {LAST_STAGE}, got {self.zero}")
        for name, value, known in (("precision", self.precision, PRECISIONS), ("offload", self.offload, OFFLOADS)):
            if value not in known:
                raise FieldError(f"{name}: {UnknownNameError.among(name, value[:40], known)}")
        least = {NONE: 0, OPTIMIZER: 1, ALL: LAST_STAGE}[self.offload]
        if self.zero < least:
            raise FieldError(f"offload {self.offload} needs zero {least} or more, got zero {self.zero}")
        self._check_sizes()

    def _check_sizes(self) -> None:
        if self.largest_layer is not None:
            positive(largest_layer=self.largest_layer)
            if self.largest_layer > self.parameters:
                raise FieldError(f"largest_layer must be up to parameters, got {self.largest_layer:g}")
        if (self.layers is None) != (self.shape is None):
            raise FieldError("layers: activations need layers, hidden, heads, seq and batch, all or none of them")
        if self.layers is not None:
            object.__setattr__(self, "layers", count("layers", self.layers, _MOST_WAYS))

    @property
    def parts(self) -> dict[str, float]:
        """Bytes on a GPU by what they are for; of a pipeline on its first stage, which holds most activations."""
        own = self.parameters / (self.tp * self.pp)
        states = PRECISIONS[self.precision]
        weights, gradients, optimizer = (own * one for one in states.per_gpu(self.dp, self.zero, self.offload))
        found = {"weights": weights, "gradients": gradients, "optimizer": optimizer}
        if self.largest_layer is not None and self.zero == LAST_STAGE:
            found["gathered"] = _GATHERED * states.weights * self.largest_layer / self.tp
        if self.layer_bytes is not None and self.layers is not None:
            found["activations"] = self.layer_bytes * -(-self.layers // self.pp) * self.pp
        return found

    @property
    def layer_bytes(self) -> float | None:
        """Activations of one layer and micro-batch, if its shape is known."""
        if self.shape is None:
            return None
        return formulas.per_layer(
            self.shape,
            tp=self.tp,
            sequence_parallel=self.sequence_parallel,
            recompute=self.recompute,
            flash=self.flash,
        )

    @property
    def total(self) -> float:
        """Bytes on a GPU."""
        return sum(self.parts.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingMemory:
    """Bytes of one GPU: `parts` by what they are for, `states_bytes` those that are no activations.

    `by_zero` are the bytes of a GPU under each stage of ZeRO, `by_offload` those with parts of the states on the hosts,
    which then hold `host_bytes` together; `fits` is None without a GPU.
    """

    setup: Setup
    bytes_per_parameter: int
    parts: dict[str, float]
    states_bytes: float
    bytes_per_gpu: float
    activation_bytes_per_layer: float | None
    by_zero: dict[str, float]
    by_offload: dict[str, float]
    host_bytes: float
    capacity_bytes: float | None
    fits: bool | None
    why: tuple[str, ...]
    advice: tuple[str, ...]
    not_counted: tuple[str, ...] = field(default=())


def training_memory(setup: Setup, gpu: GPU | None = None) -> TrainingMemory:
    """The memory that a setup takes of each GPU, and whether one of this kind has it."""
    capacity = None if gpu is None else gpu.dram_bytes
    parts = setup.parts
    total = sum(parts.values())
    return TrainingMemory(
        setup=setup,
        bytes_per_parameter=PRECISIONS[setup.precision].total,
        parts=parts,
        states_bytes=total - parts.get("activations", 0.0),
        bytes_per_gpu=total,
        activation_bytes_per_layer=setup.layer_bytes,
        by_zero={str(stage): replace(setup, zero=stage, offload=NONE).total for stage in range(LAST_STAGE + 1)},
        by_offload={one: replace(setup, offload=one).total for one in _offloads(setup.zero)},
        host_bytes=setup.parameters * PRECISIONS[setup.precision].on_host(setup.offload),
        capacity_bytes=capacity,
        fits=None if capacity is None else total <= capacity,
        why=tuple(_why(setup)),
        advice=tuple(_advice(setup, capacity)),
        not_counted=tuple(_not_counted(setup)),
    )


def _offloads(zero: int) -> tuple[str, ...]:
    if zero == 0:
        return (NONE,)
    return OFFLOADS if zero == LAST_STAGE else (NONE, OPTIMIZER)


def _why(setup: Setup) -> Iterator[str]:
    states = PRECISIONS[setup.precision]
    each = sum(states.per_gpu(setup.dp, setup.zero, setup.offload))
    yield f"{states.total} bytes a parameter: {states.words}"
    shared = ("nothing", "the optimizer", "optimizer and gradients", "optimizer, gradients and weights")[setup.zero]
    own = setup.parameters / (setup.tp * setup.pp)
    here = f"{format_quantity(own)} parameters: {_size(each * own)}"
    yield f"ZeRO-{setup.zero} shares {shared} over {setup.dp}: {each:.4g} bytes for each of {here}"
    if setup.precision != MIXED:
        usual = replace(setup, precision=MIXED, largest_layer=None, layers=None, shape=None).total
        yield f"at the usual {PRECISIONS[MIXED].total} bytes a parameter it would be {_size(usual)}"
    if setup.shape is not None and setup.layers is not None and setup.layer_bytes is not None:
        layers = -(-setup.layers // setup.pp)
        yield (
            f"activations: {_size(setup.layer_bytes)} for each of {layers} layers of the first stage"
            + (f", which has {setup.pp} micro-batches in flight" if setup.pp > 1 else "")
        )
    if setup.offload != NONE:
        yield f"the hosts hold {_size(setup.parameters * states.on_host(setup.offload))} together, with their buffers"


def _advice(setup: Setup, capacity: float | None) -> Iterator[str]:
    if capacity is not None and setup.total <= capacity:
        yield f"it fits, with {_size(capacity - setup.total)} left for what is not counted"
        return
    changes = [*_stages(setup), *_recomputations(setup)]
    fitting = [one for one in changes if capacity is not None and one[1].total <= capacity]
    for words, changed in (fitting or changes)[:2]:
        yield f"{words}: {_size(changed.total)}" + (", which fits" if fitting else "")
    if capacity is not None and not fitting:
        ways = setup.dp * 2
        while replace(setup, dp=ways, zero=LAST_STAGE, offload=NONE).total > capacity and ways < _MOST_WAYS:
            ways *= 2
        shared = replace(setup, dp=ways, zero=LAST_STAGE, offload=NONE).total
        if shared <= capacity:
            yield f"ZeRO-3 over {ways} GPUs: {_size(shared)}, which fits"


def _stages(setup: Setup) -> Iterator[tuple[str, Setup]]:
    """Higher stages of ZeRO that save something, then other places for the states."""
    if setup.dp > 1:
        for stage in range(setup.zero + 1, LAST_STAGE + 1):
            yield f"ZeRO-{stage}", replace(setup, zero=stage)
    for one in _offloads(setup.zero):
        if OFFLOADS.index(one) > OFFLOADS.index(setup.offload):
            yield f"offload {one}", replace(setup, offload=one)


def _recomputations(setup: Setup) -> Iterator[tuple[str, Setup]]:
    """More recomputation of activations, and sequence parallelism, where there are any."""
    if setup.shape is None:
        return
    if setup.tp > 1 and not setup.sequence_parallel and setup.recompute != FULL:
        yield "sequence parallelism", replace(setup, sequence_parallel=True)
    for one in RECOMPUTES[RECOMPUTES.index(setup.recompute) + 1 :]:
        yield f"recompute {one}", replace(setup, recompute=one)


def _not_counted(setup: Setup) -> Iterator[str]:
    if setup.shape is None:
        yield "activations (give layers, hidden, heads, seq and batch)"
    yield "buffers of communication and prefetching, fragmentation of the allocator, the CUDA context"
    yield "so this is a floor for the states, not what a monitor shows"


def _size(value: float) -> str:
    return f"{format_quantity(value, 'B', 4)} ({format_binary(value)})"
