"""Where the time of a training step goes, part by part, and which of them to shorten first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..errors import FieldError
from ..units import format_percent, format_time
from .amounts import count, not_negative

DATA, FORWARD, BACKWARD = "data", "forward", "backward"
COMMUNICATION, OPTIMIZER, CHECKPOINT = "communication", "optimizer", "checkpoint"
PARTS = (DATA, FORWARD, BACKWARD, COMMUNICATION, OPTIMIZER, CHECKPOINT)
_REMEDIES = {
    DATA: "load and prepare the next batch while this one is computed (more workers, prefetching)",
    COMMUNICATION: "hide it behind the backward pass, see synperf overlap",
    OPTIMIZER: "fuse its kernels, or share it among ranks by ZeRO",
    CHECKPOINT: "write it while the next steps run, or less often",
}
_USUAL = {"": (1.6, 2.6), "full": (2.4, 3.6)}  # backward over forward time: about 2, and 3 where all is computed again
_MOST_STEPS = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Seconds of a step by part, their sum, and the `bottleneck`: the part that takes longest.

    A checkpoint counts for a step as its time over the steps between two of them.
    """

    parts: dict[str, float]
    step_s: float
    shares: dict[str, float]
    bottleneck: str


def shares(given: Mapping[str, float], checkpoint_every: int | None = None) -> Shares | None:
    """The parts of a step; None where none are given.

    Raises:
        FieldError: a time is below 0, all are 0, or it is not said how often there is a checkpoint.
    """
    if not given:
        return None
    for name, value in given.items():
        not_negative(**{f"{name}_s": value})
    parts = {name: given[name] for name in PARTS if name in given}
    if CHECKPOINT in parts:
        if checkpoint_every is None:
            raise FieldError("checkpoint_every: none given; right would be the steps from one checkpoint to the next")
        parts[CHECKPOINT] /= count("checkpoint_every", checkpoint_every, _MOST_STEPS)
    step = sum(parts.values())
    if not step:
        raise FieldError("forward_s and all other times are 0; right would be at least one above it")
    relative = {name: value / step for name, value in parts.items()}
    return Shares(parts=parts, step_s=step, shares=relative, bottleneck=max(parts, key=parts.__getitem__))


def why(found: Shares, *, recomputes: bool) -> Iterator[str]:
    """The bottleneck, and whether forward and backward go together."""
    name = found.bottleneck
    time = format_time(found.parts[name])
    yield f"{name} takes longest: {time} of {format_time(found.step_s)}, {format_percent(found.shares[name])}"
    forward, backward = found.parts.get(FORWARD, 0.0), found.parts.get(BACKWARD, 0.0)
    if forward and backward:
        low, high = _USUAL["full" if recomputes else ""]
        ratio, usual = backward / forward, 3 if recomputes else 2
        said = "as its FLOP say" if low <= ratio <= high else "look for communication, waiting or recomputation in it"
        if ratio < low:
            said = "look for what slows the forward pass"
        yield f"backward is {ratio:.3g} times forward, where {usual} is usual: {said}"


def advice(found: Shares) -> Iterator[str]:
    """What the step takes without each part that is no computation, the longest first."""
    parts = sorted((one for one in found.parts if one in _REMEDIES), key=lambda one: -found.parts[one])
    for name in parts[:2]:
        rest = found.step_s - found.parts[name]
        if found.parts[name] and rest:
            faster = f"{format_time(rest)}, {found.step_s / rest:.3g} times faster"
            yield f"{name}: {_REMEDIES[name]}; without it a step takes {faster}"
    if found.bottleneck in (FORWARD, BACKWARD):
        yield "most is computation: raise its MFU (larger micro-batches, fused kernels, lower precision)"
