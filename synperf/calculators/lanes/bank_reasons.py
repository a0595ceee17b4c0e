"""Why an access to shared memory takes as many wavefronts as it does, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from ...hardware.capability import ComputeCapability, major_minor
from ...units import counted, format_binary
from .banked import Banks
from .conflicts import WORD
from .pattern import Pattern


def reasons(found: Banks, pattern: Pattern, able: ComputeCapability, between: int | None) -> tuple[str, ...]:
    """Sentences with the numbers in them; `between` is what the addresses of neighbouring lanes differ by."""
    return tuple(_said(found, pattern, able, between))


def _said(f: Banks, pattern: Pattern, able: ComputeCapability, between: int | None) -> Iterator[str]:
    if not f.aligned:
        yield (f"the access faults: an instruction of {f.access_bytes} bytes needs a multiple of them, and one is at "
               f"byte {pattern.misaligned}")  # fmt: skip
    yield _busiest(f)
    yield from _step(f, between)
    yield from _phases(f, able)
    if f.unique_bytes < f.active_lanes * f.access_bytes:
        yield (f"of {f.active_lanes * f.access_bytes} bytes {f.unique_bytes} are different: a word that several "
               "lanes read goes to all of them in one wavefront, and of several that store to it one wins")  # fmt: skip


def _busiest(f: Banks) -> str:
    at = f.histogram.index(f.degree)
    each = "" if f.requests == 1 else f" of {counted(f.requests, 'request')}"
    least = "the least there is" if not f.extra_wavefronts else f"{f.minimum_wavefronts:,} would do without conflicts"
    return (f"the busiest bank, {at}, has to answer for {counted(f.degree, 'different word')} in one phase: "
            f"{counted(f.wavefronts, 'wavefront')}{each}, {least}")  # fmt: skip


def _step(f: Banks, between: int | None) -> Iterator[str]:
    if not between or between % WORD:
        return
    words = abs(between) // WORD
    met = f.num_banks // gcd(words, f.num_banks)
    yield (f"neighbouring lanes are {counted(words, 'word')} of {WORD} bytes apart, and gcd({words}, {f.num_banks}) "
           f"is {gcd(words, f.num_banks)}: their first words meet {met} of {f.num_banks} banks")  # fmt: skip


def _phases(f: Banks, able: ComputeCapability) -> Iterator[str]:
    if f.access_bytes <= WORD:
        return
    usual = f.num_banks * WORD // f.access_bytes
    phases = -(-able.warp_size // f.phase_lanes)
    yield (f"an access of {f.access_bytes} bytes has {counted(phases, 'phase')} of {f.phase_lanes} lanes, since a "
           f"warp takes {format_binary(able.warp_size * f.access_bytes)} and a clock gives {f.num_banks * WORD} "
           "bytes; lanes of different phases do not conflict")  # fmt: skip
    if major_minor(able.key)[0] == 7 and f.access_bytes == 16:
        holds = "as they do here" if f.phase_lanes > usual else "which they do not here"
        yield f"on 7.x half the phases do where all lanes t and t ^ 1, or t and t ^ 2, read one address, {holds}"
