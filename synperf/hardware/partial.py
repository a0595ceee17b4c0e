"""A partial GPU file: what it leaves out is taken from the nearest catalog GPU, with one sentence for every field."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import log
from pathlib import Path

from ..errors import FieldError
from ..units import format_plain
from .bounds import between, moved_limits
from .capability import GPU_FIELDS, capability
from .dtype import DType
from .fields import NUMBERS, PEAKS, PER_CLOCK, Document
from .gpu import GPU
from .nearest import Rates, nearest, new_kind
from .parse import FILE_ORDER, TOLERANCE, flop_per_clk_per_sm, limits, require_ordered

_SCALED = {  # field -> what it grows with; every other number is taken as the reference has it
    "base_clock_hz": "clock",
    "max_clock_hz": "clock",
    "l2_bytes": "SMs",
    "l2_bytes_per_s": "SMs and clock",
}


def complete(
    document: Document, where: str, candidates: Callable[[], Iterable[GPU]]
) -> tuple[Document, tuple[str, ...]]:
    """The document with every field, and a sentence for each one that was filled in.

    What is filled in never contradicts what is stated. `candidates` is asked for only when something is missing.

    Raises:
        FieldError: fewer than the required fields, a field that contradicts another, or a misspelled architecture.
    """
    _require_minimum(document, where)
    require_ordered(document, where, FILE_ORDER)
    if "compute_capability" in document:
        limits(document["compute_capability"], where)  # a capability that is not in the table is told now
    filled = dict(document)
    said = _fill_name(filled, where)
    if is_complete(document):
        return filled, (*said, *_fill_limits(filled, where))
    everyone = list(candidates())
    new = new_kind(document, where, everyone)
    reference = nearest(document, where, everyone)
    said.insert(0, f"reference for what {where} leaves out: {reference.key}{new}")
    said += _fill_kind(filled, reference, where)
    said += _fill_size(filled, reference)
    rates, _ = flop_per_clk_per_sm(filled, where)
    said += _fill_numbers(filled, reference)
    said += _fill_rates(filled, rates, reference)
    return filled, tuple(said)


def is_complete(document: Document) -> bool:
    """Whether a file states everything that is neither its name nor a limit of its compute capability."""
    needed = {"architecture", "compute_capability", *NUMBERS} - set(GPU_FIELDS)
    fma = {**document.get(PEAKS["fma"], {}), **document.get(PER_CLOCK["fma"], {})}
    return needed <= set(document) and DType.FP32 in fma


def _require_minimum(document: Document, where: str) -> None:
    missing = [] if "dram_bytes_per_s" in document else ["dram_bytes_per_s"]
    if not any(document.get(field) for field in (*PEAKS.values(), *PER_CLOCK.values())):
        missing.append("a peak or rate, such as tensor_flop_per_s.bf16,")
    if missing:
        needed = "dram_bytes_per_s and one tensor or fma peak or rate"
        raise FieldError(f"{where}: {missing[0]} is missing; a partial file needs {needed}")


def _fill_name(filled: Document, where: str) -> list[str]:
    if "name" in filled:
        return []
    filled["name"] = Path(where).stem
    return [f"name: {filled['name']}, as the file"]


def _fill_kind(filled: Document, reference: GPU, where: str) -> list[str]:
    """Architecture and compute capability, and with the latter the limits of one SM."""
    said, inherits = [], "compute_capability" not in filled
    if "architecture" not in filled:
        filled["architecture"] = reference.architecture
        said.append(f"architecture: {reference.architecture}, as {reference.key}")
    filled.setdefault("compute_capability", reference.compute_capability)
    moved = _fill_limits(filled, where)
    if inherits:
        with_it = ", ".join(field for field in GPU_FIELDS if field not in filled)
        words = f"as {reference.key}{', and with it ' if with_it else ''}{with_it}"
        said.append(f"compute_capability: {reference.compute_capability}, {words}")
    return said + moved


def _fill_limits(filled: Document, where: str) -> list[str]:
    """Limits of the compute capability that a stated one rules out; `build` adds the others."""
    moved = moved_limits(filled, limits(filled["compute_capability"], where))
    filled.update({field: value for field, (value, _) in moved.items()})
    return [f"{field}: {value}, {words}" for field, (value, words) in moved.items()]


def _fill_size(filled: Document, reference: GPU) -> list[str]:
    """SMs and clock: from peaks whose rate is stated too, else the reference's clock and SMs from a given peak."""
    said = []
    first, product = _product(filled)
    if "clock_hz" not in filled:
        clock, words = between("clock_hz", reference.clock_hz, f"as {reference.key}", filled)
        if product:
            sms = filled.get("num_sms") or _count(product, clock, filled)
            clock, words = between("clock_hz", product / sms, f"the {first} peak over its rate and num_sms", filled)
            if "num_sms" not in filled:
                filled["num_sms"] = sms
                said.append(f"num_sms: {sms}, the {first} peak over its rate and a clock near that of {reference.key}")
        filled["clock_hz"] = clock
        said.insert(0, f"clock_hz: {format_plain(clock)}, {words}")
    if "num_sms" not in filled:
        filled["num_sms"], words = _sms(filled, reference, first, product)
        said.append(f"num_sms: {filled['num_sms']}, {words}")
    return said


def _product(document: Document) -> tuple[str, float]:
    """A format, and SMs x clock as every format implies that has both its peak and its rate; 0 where none has.

    The middle of what the tolerance of all these peaks allows.
    """
    implied = {
        dtype: peak / document[PER_CLOCK[pipe]][dtype]
        for pipe, field in PEAKS.items()
        for dtype, peak in document.get(field, {}).items()
        if dtype in document.get(PER_CLOCK[pipe], {})
    }
    if not implied:
        return "", 0.0
    low, high = max(implied.values()) * (1 - TOLERANCE), min(implied.values()) * (1 + TOLERANCE)
    return next(iter(implied)), (low + high) / 2


def _count(product: float, clock: float, filled: Document) -> int:
    """The whole number of SMs that gives the product at an allowed clock, the one nearest to `clock`."""

    def misfit(sms: int) -> tuple[float, float]:
        own, _ = between("clock_hz", product / sms, "", filled)
        return round(abs(log(sms * own / product)), 9), abs(log(own / clock))

    near = _whole_sms(product / clock)
    return min(range(max(1, near - 1), near + 2), key=misfit)


def _whole_sms(sms: float) -> int:
    return round(between("num_sms", sms, "", {})[0])


def _sms(filled: Document, reference: GPU, first: str, product: float) -> tuple[int, str]:
    """SMs at a known clock."""
    if product:
        return _whole_sms(product / filled["clock_hz"]), f"the {first} peak over clock_hz and its rate"
    known = {"tensor": reference.tensor_flop_per_clk_per_sm, "fma": reference.fma_flop_per_clk_per_sm}
    for pipe, field in PEAKS.items():
        for dtype, peak in filled.get(field, {}).items():
            if rate := known[pipe].get(dtype):
                words = f"the {dtype} peak over clock_hz and the rate of {reference.key}"
                return _whole_sms(peak / rate / filled["clock_hz"]), words
    return reference.num_sms, f"as {reference.key}"


def _fill_numbers(filled: Document, reference: GPU) -> list[str]:
    """Clocks by the clock, L2 by SMs, L2 bandwidth by both, the rest as the reference has it."""
    clock, sms = filled["clock_hz"] / reference.clock_hz, filled["num_sms"] / reference.num_sms
    factors = {"clock": clock, "SMs": sms, "SMs and clock": sms * clock}
    said = []
    for field in NUMBERS:
        if field not in filled and field not in GPU_FIELDS:
            by = _SCALED.get(field)
            words = f"scaled from {reference.key} by {by}" if by else f"as {reference.key}"
            value = getattr(reference, field) * (factors[by] if by else 1)
            if field == "l2_bytes_per_s":
                value, words = _above_dram(value, words, filled, reference)
            filled[field], words = between(field, value, words, filled)
            said.append(f"{field}: {format_plain(filled[field])}, {words}")
    return said


def _above_dram(value: float, words: str, filled: Document, reference: GPU) -> tuple[float, str]:
    """L2 bandwidth in the reference's ratio to DRAM, where the scaled one would be below the DRAM bandwidth itself."""
    if value >= filled["dram_bytes_per_s"]:
        return value, words
    ratio = reference.l2_bytes_per_s / reference.dram_bytes_per_s
    return filled["dram_bytes_per_s"] * ratio, f"as many times the stated DRAM bandwidth as in {reference.key}"


def _fill_rates(filled: Document, rates: Rates, reference: GPU) -> list[str]:
    """Rates of the formats that the file leaves out, by the ratio of the nearest format that it has."""
    known = {"tensor": reference.tensor_flop_per_clk_per_sm, "fma": {}}
    if not rates["tensor"] and not known["tensor"]:
        known["fma"] = reference.fma_flop_per_clk_per_sm  # packed formats matter where there are no tensor cores
    said = []
    for pipe, field in PER_CLOCK.items():
        table = filled[field] = dict(filled.get(field, {}))
        for dtype in (d for d in known[pipe] if d not in rates[pipe] and d is not DType.FP32):
            scale, words = _ratio(dtype, rates[pipe], known[pipe], reference.key)
            table[dtype] = known[pipe][dtype] * scale
            said.append(f"{field}.{dtype}: {format_plain(table[dtype])}, {words}")
    if DType.FP32 not in rates["fma"]:
        cc = capability(filled["compute_capability"])
        filled[PER_CLOCK["fma"]][DType.FP32] = 2.0 * cc.fp32_lanes_per_sm
        lanes = f"{cc.fp32_lanes_per_sm} lanes of compute capability {cc.key}, two FLOP each"
        said.append(f"{PER_CLOCK['fma']}.fp32: {2 * cc.fp32_lanes_per_sm}, the {lanes}")
    return sorted(said)


def _ratio(dtype: DType, given: Mapping[DType, float], known: Mapping[DType, float], key: str) -> tuple[float, str]:
    """How much faster than the reference the file is in the format nearest in width that both have."""
    both = [d for d in given if d in known]
    if not both:
        return 1.0, f"as {key}"
    near = min(both, key=lambda d: abs(log(d.bytes / dtype.bytes)))
    return given[near] / known[near], f"scaled from {key} by the ratio in {near}"
