"""A partial GPU file: what it leaves out is taken from the nearest catalog GPU, with one sentence for every field."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import log
from pathlib import Path
from typing import Any

from ..errors import FieldError
from ..units import format_plain
from .capability import GPU_FIELDS, capability
from .dtype import DType
from .fields import NUMBERS, PEAKS, PER_CLOCK, Document
from .gpu import GPU
from .parse import flop_per_clk_per_sm, limits

_FAR = log(8)  # a reference without a given format counts as one that is eight times off
_SCALED = {  # field -> what it grows with; every other number is taken as the reference has it
    "base_clock_hz": "clock",
    "max_clock_hz": "clock",
    "l2_bytes": "SMs",
    "l2_bytes_per_s": "SMs and clock",
}

Rates = Mapping[str, Mapping[DType, float]]  # pipe -> format -> FLOP per clock and SM


def complete(
    document: Document, where: str, candidates: Callable[[], Iterable[GPU]]
) -> tuple[Document, tuple[str, ...]]:
    """The document with every field, and a sentence for each one that was filled in.

    `candidates` is asked for only when something is missing.

    Raises:
        FieldError: fewer than the required fields, or a field that contradicts another.
    """
    _require_minimum(document, where)
    if is_complete(document):
        return document, ()
    if "compute_capability" in document:
        limits(document["compute_capability"], where)  # a capability that is not in the table is told now
    filled = {"name": Path(where).stem, **document}
    reference = nearest(document, where, candidates())
    said = [f"reference for what {where} leaves out: {reference.key}"]
    said += _fill_kind(filled, reference)
    said += _fill_size(filled, reference)
    rates, _ = flop_per_clk_per_sm(filled, where)
    said += _fill_numbers(filled, reference)
    said += _fill_rates(filled, rates, reference)
    return filled, tuple(said)


def is_complete(document: Document) -> bool:
    """Whether a file states everything that is not a limit of its compute capability."""
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


def nearest(document: Document, where: str, candidates: Iterable[GPU]) -> GPU:
    """The most alike of the GPUs of the same compute capability, else of the same architecture, else of all.

    Alike per SM and per clock, so that a larger chip of the same kind stays near; where the file has no SMs or no
    clock, alike as a whole.
    """
    pool = everyone = list(candidates)
    for field in ("architecture", "compute_capability"):
        pool = [gpu for gpu in everyone if getattr(gpu, field) == document.get(field)] or pool
    if {"num_sms", "clock_hz"} <= set(document):
        rates, _ = flop_per_clk_per_sm(document, where)
        given = _features(document, rates)
        return min(pool, key=lambda gpu: (_distance(given, _features_of(gpu)), gpu.key))
    whole = _whole(document, {pipe: document.get(field, {}) for pipe, field in PEAKS.items()})
    return min(pool, key=lambda gpu: (_distance(whole, _whole_of(gpu)), gpu.key))


def _distance(given: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Mean distance on a log scale over what the file states."""
    apart = (abs(log(value / other[name])) if other.get(name) else _FAR for name, value in given.items())
    return sum(apart) / len(given)


def _features(values: Mapping[str, Any], rates: Rates) -> dict[str, float]:
    """What a file states, per SM and per clock, so that a larger chip of the same kind stays near."""
    sms, per_clock = values["num_sms"], values["num_sms"] * values["clock_hz"]
    features = {"clock_hz": values["clock_hz"], "num_sms": sms}
    features |= {f"{pipe}.{dtype}": rate for pipe, table in rates.items() for dtype, rate in table.items()}
    features |= {name: values[name] / per_clock for name in ("dram_bytes_per_s", "l2_bytes_per_s") if name in values}
    features |= {name: values[name] / sms for name in ("dram_bytes", "l2_bytes", "power_w") if name in values}
    return features


def _features_of(gpu: GPU) -> dict[str, float]:
    rates = {"tensor": gpu.tensor_flop_per_clk_per_sm, "fma": gpu.fma_flop_per_clk_per_sm}
    return _features({field: getattr(gpu, field) for field in NUMBERS}, rates)


def _whole(values: Mapping[str, Any], peaks: Rates) -> dict[str, float]:
    """What a file states of the GPU as a whole."""
    features = {f"{pipe}.{dtype}": peak for pipe, table in peaks.items() for dtype, peak in table.items()}
    names = ("num_sms", "clock_hz", "dram_bytes_per_s", "dram_bytes", "l2_bytes", "l2_bytes_per_s", "power_w")
    return features | {name: values[name] for name in names if name in values}


def _whole_of(gpu: GPU) -> dict[str, float]:
    per_clock = gpu.num_sms * gpu.clock_hz
    tables = {"tensor": gpu.tensor_flop_per_clk_per_sm, "fma": gpu.fma_flop_per_clk_per_sm}
    peaks = {pipe: {dtype: rate * per_clock for dtype, rate in table.items()} for pipe, table in tables.items()}
    return _whole({field: getattr(gpu, field) for field in NUMBERS}, peaks)


def _fill_kind(filled: Document, reference: GPU) -> list[str]:
    """Architecture and compute capability, and with the latter the limits of one SM."""
    said = []
    if "architecture" not in filled:
        filled["architecture"] = reference.architecture
        said.append(f"architecture: {reference.architecture}, as {reference.key}")
    if "compute_capability" not in filled:
        filled["compute_capability"] = reference.compute_capability
        inherited = ", ".join(field for field in GPU_FIELDS if field not in filled)
        said.append(f"compute_capability: {reference.compute_capability}, as {reference.key}, and with it {inherited}")
    return said


def _fill_size(filled: Document, reference: GPU) -> list[str]:
    """Clock as the reference's; SMs from a given peak over the reference's rate and the clock."""
    said = []
    if "clock_hz" not in filled:
        filled["clock_hz"] = reference.clock_hz
        said.append(f"clock_hz: {format_plain(reference.clock_hz)}, as {reference.key}")
    if "num_sms" not in filled:
        filled["num_sms"], words = _sms(filled, reference)
        said.append(f"num_sms: {filled['num_sms']}, {words}")
    return said


def _sms(filled: Document, reference: GPU) -> tuple[int, str]:
    known = {"tensor": reference.tensor_flop_per_clk_per_sm, "fma": reference.fma_flop_per_clk_per_sm}
    for pipe, field in PEAKS.items():
        for dtype, peak in filled.get(field, {}).items():
            own = filled.get(PER_CLOCK[pipe], {}).get(dtype)
            rate = own or known[pipe].get(dtype)
            if rate:
                words = f"the {dtype} peak over clock_hz and {'its rate' if own else 'the rate of ' + reference.key}"
                return max(1, round(peak / rate / filled["clock_hz"])), words
    return reference.num_sms, f"as {reference.key}"


def _fill_numbers(filled: Document, reference: GPU) -> list[str]:
    """Clocks by the clock, L2 by SMs, L2 bandwidth by both, the rest as the reference has it."""
    clock, sms = filled["clock_hz"] / reference.clock_hz, filled["num_sms"] / reference.num_sms
    factors = {"clock": clock, "SMs": sms, "SMs and clock": sms * clock}
    said = []
    for field in NUMBERS:
        if field not in filled and field not in GPU_FIELDS:
            by = _SCALED.get(field)
            filled[field] = getattr(reference, field) * (factors[by] if by else 1)
            words = f"scaled from {reference.key} by {by}" if by else f"as {reference.key}"
            said.append(f"{field}: {format_plain(filled[field])}, {words}")
    return said


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
