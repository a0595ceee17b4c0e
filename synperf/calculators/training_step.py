"""What a training step computes, how well it uses its GPUs (MFU, HFU), and where its time goes.

Sources: as in `training_flop.py`; MFU and HFU: A. Chowdhery et al., "PaLM", arXiv:2204.02311, appendix B.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..errors import FieldError
from ..units import format_percent, format_quantity, format_time
from . import training_shares as parts
from .activations import FULL, NONE
from .amounts import count, positive
from .training_flop import Attention, Formula, Work, formula, work
from .training_shares import Shares, shares

_MOST_GPUS = 2**31 - 1
_ADDED_UP = 0.02  # by how much parts may miss the whole
_USUAL_MFU = 0.2  # below which a sentence says what the time may hold beside training


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What is known of a step, or of a whole run: its work, its time, or a rate that something printed.

    `tokens` are those of all `gpus` in `seconds`; `peak` is of one GPU, FLOP per second. `times` are seconds of a step
    by part. `reported` is a rate of one GPU that was counted by Megatron's formula.
    """

    parameters: float | None = None
    tokens: float | None = None
    gpus: int = 1
    peak: float | None = None
    seconds: float | None = None
    attention: Attention | None = None
    vocab: int | None = None
    recompute: str = NONE
    times: Mapping[str, float] = field(default_factory=dict)
    checkpoint_every: int | None = None
    reported: float | None = None

    def __post_init__(self) -> None:
        """Checks the fields.

        Raises:
            FieldError: one is not what it should be, or does not go with another.
        """
        object.__setattr__(self, "gpus", count("gpus", self.gpus, _MOST_GPUS))
        for name in ("peak", "seconds", "reported"):
            if getattr(self, name) is not None:
                positive(**{name: getattr(self, name)})
        if (self.parameters is None) != (self.tokens is None):
            missing = "parameters" if self.parameters is None else "tokens"
            raise FieldError(f"{missing}: none given; FLOP need parameters and tokens")
        if self.reported is not None and (self.attention is None or self.peak is None):
            raise FieldError("reported needs layers, hidden, seq, and peak or a GPU")
        if self.parameters is None and not self.times and self.reported is None:
            raise FieldError(
                "parameters: none given; right would be parameters and tokens, times of parts, or reported"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """How well GPUs are used: model FLOP over their peak (`mfu`), with what is computed again (`hfu`).

    `mfu_of_one` is what the peak of a single GPU would make of it, a common mistake.
    """

    seconds: float
    flop_per_s: float
    flop_per_s_per_gpu: float
    mfu: float
    hfu: float
    mfu_of_one: float
    least_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A printed rate beside what a causal kernel computes; `utilization` is of that, over the peak."""

    flop_per_s: float
    causal_flop_per_s: float
    utilization: float
    reported_utilization: float
    is_possible: bool
    formula: Formula
    overcount: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingStep:
    """FLOP, use and shares of a step, those that what is known allows; `flop` are by pass, and in all."""

    setup: Setup
    flop: dict[str, float] | None
    used: Used | None
    shares: Shares | None
    reported: Reported | None
    why: tuple[str, ...]
    advice: tuple[str, ...]
    findings: tuple[str, ...]


def training_step(setup: Setup) -> TrainingStep:
    """What a step computes, how well and with which parts.

    Raises:
        FieldError: a number is not what it should be.
    """
    split = shares(setup.times, setup.checkpoint_every)
    done = _work(setup)
    used = None if done is None else _used(setup, done, split)
    told = None if setup.reported is None else _reported(setup, setup.reported)
    return TrainingStep(
        setup=setup,
        flop=None if done is None else _flop(done),
        used=used,
        shares=split,
        reported=told,
        why=tuple(_why(setup, done, used, split, told)),
        advice=tuple(_advice(used, split, told)),
        findings=tuple(_findings(setup, used, split, told)),
    )


def _work(setup: Setup) -> Work | None:
    if setup.parameters is None or setup.tokens is None:
        return None
    return work(setup.parameters, setup.tokens, setup.attention, setup.recompute)


def _flop(done: Work) -> dict[str, float]:
    return {
        "forward": done.forward,
        "backward": done.backward,
        "again": done.again,
        "model": done.model,
        "hardware": done.hardware,
    }


def _used(setup: Setup, done: Work, split: Shares | None) -> Used | None:
    seconds = setup.seconds or (split.step_s if split is not None else None)
    if seconds is None or setup.peak is None:
        return None
    rate = done.model / seconds
    return Used(
        seconds=seconds,
        flop_per_s=rate,
        flop_per_s_per_gpu=rate / setup.gpus,
        mfu=rate / setup.gpus / setup.peak,
        hfu=done.hardware / seconds / setup.gpus / setup.peak,
        mfu_of_one=rate / setup.peak,
        least_s=done.hardware / setup.gpus / setup.peak,
    )


def _reported(setup: Setup, rate: float) -> Reported:
    assert setup.attention is not None  # the setup says so
    assert setup.peak is not None
    terms = formula(setup.attention, setup.vocab)
    causal = rate / terms.overcount
    return Reported(
        flop_per_s=rate,
        causal_flop_per_s=causal,
        utilization=causal / setup.peak,
        reported_utilization=rate / setup.peak,
        is_possible=rate <= setup.peak,
        formula=terms,
        overcount=terms.overcount,
    )


def _why(
    setup: Setup, done: Work | None, used: Used | None, split: Shares | None, told: Reported | None
) -> Iterator[str]:
    if done is not None and setup.parameters and setup.tokens:
        each = done.hardware / setup.parameters / setup.tokens
        again = "" if not done.again else f", {format_quantity(done.again, 'FLOP')} of it again"
        yield (
            f"{each:.3g} FLOP for each parameter and token, {format_quantity(done.forward, 'FLOP')} forward and twice "
            f"that backward: {format_quantity(done.hardware, 'FLOP', 4)}{again}"
        )
    if used is not None and setup.peak is not None:
        peak = format_quantity(setup.peak, "FLOP/s", 4)
        yield (
            f"{format_quantity(used.flop_per_s, 'FLOP/s', 4)} on {setup.gpus} x {peak}: "
            f"MFU {format_percent(used.mfu)}, HFU {format_percent(used.hfu)}"
        )
    if split is not None:
        yield from parts.why(split, recomputes=setup.recompute == FULL)
    if told is not None:
        terms = told.formula
        yield (
            f"the formula counts all scores, s/(6h) = {terms.attention_full:.4g} of the layers' matrices; a causal "
            f"kernel computes half of them, {terms.attention_causal:.4g}"
        )
        yield (
            f"attention is {format_percent(terms.attention_share)} of the formula's FLOP here, so it counts "
            f"{told.overcount:.4g} times too much: {format_quantity(told.causal_flop_per_s, 'FLOP/s', 4)}, "
            f"{format_percent(told.utilization)} of peak"
        )


def _advice(used: Used | None, split: Shares | None, told: Reported | None) -> Iterator[str]:
    if split is not None:
        yield from parts.advice(split)
    if used is not None and used.mfu < 1:
        yield f"at peak the same work takes {format_time(used.least_s)}, {used.seconds / used.least_s:.3g} times faster"
    if told is not None:
        yield "count half of attention; if the rate includes recomputation, model FLOP are three quarters of it"


def _findings(setup: Setup, used: Used | None, split: Shares | None, told: Reported | None) -> Iterator[str]:
    if used is not None:
        yield from _of_use(setup, used)
    if split is not None and setup.seconds is not None and abs(split.step_s / setup.seconds - 1) > _ADDED_UP:
        yield f"seconds are {format_time(setup.seconds)}, but the parts add up to {format_time(split.step_s)}"
    if told is not None and not told.is_possible and setup.peak is not None:
        yield (
            f"ERROR: {format_quantity(told.flop_per_s, 'FLOP/s')} are more than the peak of "
            f"{format_quantity(setup.peak, 'FLOP/s')}: check how FLOP are counted"
        )


def _of_use(setup: Setup, used: Used) -> Iterator[str]:
    if used.hfu > 1:
        yield f"ERROR: {format_percent(used.hfu)} of peak is impossible: check tokens, seconds, gpus and peak"
    if setup.gpus == 1:
        yield "gpus is 1: if the tokens are those of several, give their number, or MFU is that many times too high"
        return
    if used.mfu_of_one <= 1:
        yield (
            f"the tokens of all {setup.gpus} GPUs over the peak of one would read {format_percent(used.mfu_of_one)}, "
            "a common mistake"
        )
    if used.mfu < _USUAL_MFU:
        yield "so low an MFU: do the seconds hold loading, evaluation or checkpoints, or is communication exposed?"
