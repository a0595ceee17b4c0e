"""What was fitted to measured static batches: factors of all GPUs, those of GPUs that were measured, and intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..hardware import GPU
from . import fitted as stack
from .answer import Interval
from .factors import Factors
from .policy import Policy

FILE = Path(__file__).with_name("static.json")


class OfGpu(msgspec.Struct, frozen=True, kw_only=True):
    """Factors of one GPU on its prefills and decode steps but for messages, beside those of all; of how many loads."""

    prefill: float
    decode: float
    loads: int


class Spread(NamedTuple):
    """Measured over predicted times: what the central 80 % lie between."""

    low: float
    high: float


class Spreads(msgspec.Struct, frozen=True, kw_only=True):
    """Of batches that nothing was fitted to."""

    prefill: Spread
    decode: Spread
    total: Spread


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """`known` are the spreads on GPUs of which other loads were measured, `other` on GPUs of which none was."""

    factors: dict[str, float]
    gpus: dict[str, OfGpu]
    known: Spreads
    other: Spreads
    provenance: Mapping[str, str]


class Fitted(NamedTuple):
    """The factors of a GPU, how far they are off, and whose they are."""

    factors: Factors
    spreads: Spreads
    said: str

    def of(self, policy: Policy) -> stack.Fitted:
        """The same as what is known of a stack; intervals are of prefills, steps and whole batches."""
        ttft, tpot, e2e = (
            Interval(low=one.low, high=one.high)
            for one in (self.spreads.prefill, self.spreads.decode, self.spreads.total)
        )
        return replace(stack.bare(policy, self.said), factors=self.factors, ttft=ttft, tpot=tpot, e2e=e2e)


@cache
def record() -> Record:
    """The record that ships."""
    return msgspec.json.decode(FILE.read_bytes(), type=Record)


def fitted(gpu: GPU) -> Fitted:
    """The factors of static batches on a GPU: its own where it was measured, else those of all."""
    known = record()
    common, own = Factors(**known.factors), known.gpus.get(gpu.key)
    if own is None:
        return Fitted(common, known.other, "of static batches on other GPUs")
    said = f"of static batches, {own.loads} of them on this GPU"
    return Fitted(of_gpu(common, own.prefill, own.decode), known.known, said)


def of_gpu(common: Factors, prefill: float, decode: float) -> Factors:
    """Common factors times those of a GPU on all of a prefill and of a decode step but messages."""
    times = {"prefill": prefill, "decode": decode}
    scaled = {
        name: getattr(common, name) * times[phase]
        for name in Factors.__slots__
        if (phase := name.split("_")[0]) in times
    }
    return replace(common, **scaled)
