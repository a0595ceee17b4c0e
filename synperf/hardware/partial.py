"""A partial GPU file: what it leaves out is taken from the nearest catalog GPU, with one sentence for every field."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import log
from typing import Any

from ..errors import FieldError
from ..units import format_plain
from .capability import GPU_FIELDS, capability
from .dtype import DType
from .fields import NUMBERS, PEAKS, PER_CLOCK, Document
from .gpu import GPU
from .parse import flop_per_clk_per_sm, limits

REQUIRED = ("name", "num_sms", "clock_hz", "dram_bytes_per_s")
_BY_CLOCK = ("base_clock_hz", "max_clock_hz")
_BY_SMS = ("l2_bytes",)
_BY_SMS_AND_CLOCK = ("l2_bytes_per_s",)
_FAR = log(8)  # a reference without a given format counts as one that is eight times off


def complete(document: Document, where: str, candidates: Callable[[], Iterable[GPU]]) -> tuple[Document, tuple[str, ...]]:
    """The document with every field, and a sentence for each one that was filled in.

    `candidates` is asked for only when something is missing.

    Raises:
        FieldError: fewer than the required fields, or a field that contradicts another.
    """
    _require_minimum(document, where)
    if is_complete(document):
        return document, ()
    rates, _ = flop_per_clk_per_sm(document, where)
    if "compute_capability" in document:
        limits(document["compute_capability"], where)  # a capability that is not in the table is told now
    reference = nearest(document, rates, list(candidates()))
    filled, said = dict(document), [f"reference for what {where} leaves out: {reference.key}"]
    for fill in (_architecture, _numbers, _rates):
        fill(filled, rates, reference, said)
    return filled, tuple(said)


def is_complete(document: Document) -> bool:
    """Whether a file states everything that is not a limit of its compute capability."""
    needed = {"architecture", "compute_capability", *NUMBERS} - set(GPU_FIELDS)
    fma = {**document.get(PEAKS["fma"], {}), **document.get(PER_CLOCK["fma"], {})}
    return needed <= set(document) and DType.FP32 in fma


def _require_minimum(document: Document, where: str) -> None:
    missing = [field for field in REQUIRED if field not in document]
    if not any(document.get(field) for field in (*PEAKS.values(), *PER_CLOCK.values())):
        missing.append("a peak or rate, such as tensor_flop_per_s.bf16")
    if missing:
        raise FieldError(
            f"{where}: {missing[0]} is missing; a partial file needs {', '.join(REQUIRED)} and one tensor or fma peak or rate"
        )


def nearest(document: Document, rates: dict[str, dict[DType, float]], candidates: list[GPU]) -> GPU:
    """The most alike of the GPUs of the same compute capability, else of the same architecture, else of all."""
    pool = candidates
    for field in ("architecture", "compute_capability"):
        alike = [gpu for gpu in candidates if getattr(gpu, field) == document.get(field)]
        pool = alike or pool
    given = _features(document, rates)
    return min(pool, key=lambda gpu: (_distance(given, _features_of(gpu)), gpu.key))


def _distance(given: dict[str, float], other: dict[str, float]) -> float:
    """Mean distance on a log scale over what the file states."""
    return sum(abs(log(value / other[name])) if other.get(name) else _FAR for name, value in given.items()) / len(given)


def _features(values: dict[str, Any], rates: dict[str, dict[DType, float]]) -> dict[str, float]:
    """What a file states, per SM and per clock, so that a larger chip of the same kind stays near."""
    sms, per_clock = values["num_sms"], values["num_sms"] * values["clock_hz"]
    features = {"clock_hz": values["clock_hz"], "num_sms": sms}
    features |= {f"{pipe}.{dtype}": rate for pipe, table in rates.items() for dtype, rate in table.items()}
    features |= {name: values[name] / per_clock for name in ("dram_bytes_per_s", "l2_bytes_per_s") if name in values}
    features |= {name: values[name] / sms for name in ("dram_bytes", "l2_bytes", "power_w") if name in values}
    return features


def _features_of(gpu: GPU) -> dict[str, float]:
    rates = {"tensor": dict(gpu.tensor_flop_per_clk_per_sm), "fma": dict(gpu.fma_flop_per_clk_per_sm)}
    return _features({field: getattr(gpu, field) for field in NUMBERS}, rates)


def _architecture(filled: Document, rates: dict[str, dict[DType, float]], reference: GPU, said: list[str]) -> None:
    """Architecture and compute capability, and with the latter the limits of one SM."""
    if "architecture" not in filled:
        filled["architecture"] = reference.architecture
        said.append(f"architecture: {reference.architecture}, as {reference.key}")
    if "compute_capability" not in filled:
        filled["compute_capability"] = reference.compute_capability
        inherited = ", ".join(field for field in GPU_FIELDS if field not in filled)
        said.append(f"compute_capability: {reference.compute_capability}, as {reference.key}, and with it {inherited}")


def _numbers(filled: Document, rates: dict[str, dict[DType, float]], reference: GPU, said: list[str]) -> None:
    """Clocks by the clock, L2 by SMs, L2 bandwidth by both, the rest as the reference has it."""
    clock, sms = filled["clock_hz"] / reference.clock_hz, filled["num_sms"] / reference.num_sms
    for field in NUMBERS:
        if field in filled or field in GPU_FIELDS:
            continue
        value = getattr(reference, field)
        words = f"as {reference.key}"
        for fields, factor, by in ((_BY_CLOCK, clock, "clock"), (_BY_SMS, sms, "SMs"), (_BY_SMS_AND_CLOCK, sms * clock, "SMs and clock")):
            if field in fields:
                value, words = value * factor, f"scaled from {reference.key} by {by}"
        filled[field] = value
        said.append(f"{field}: {format_plain(value)}, {words}")


def _rates(filled: Document, rates: dict[str, dict[DType, float]], reference: GPU, said: list[str]) -> None:
    """Rates of the formats that the file leaves out, by the ratio of the nearest format that it has."""
    lanes = capability(filled["compute_capability"]).fp32_lanes_per_sm
    tables = {pipe: dict(filled.get(field, {})) for pipe, field in PER_CLOCK.items()}
    if DType.FP32 not in rates["fma"]:
        tables["fma"][DType.FP32] = 2.0 * lanes
        said.append(f"{PER_CLOCK['fma']}.fp32: {2 * lanes}, the {lanes} lanes of compute capability {filled['compute_capability']}")
    has_tensor = bool(rates["tensor"]) or bool(reference.tensor_flop_per_clk_per_sm)
    for pipe, known in (("tensor", reference.tensor_flop_per_clk_per_sm), ("fma", reference.fma_flop_per_clk_per_sm)):
        for dtype, rate in known.items():
            if dtype in rates[pipe] or dtype in tables[pipe] or (pipe == "fma" and has_tensor):
                continue
            scale, words = _ratio(dtype, rates[pipe], dict(known), reference.key)
            tables[pipe][dtype] = rate * scale
            said.append(f"{PER_CLOCK[pipe]}.{dtype}: {format_plain(rate * scale)}, {words}")
    for pipe, field in PER_CLOCK.items():
        filled[field] = tables[pipe]


def _ratio(dtype: DType, given: dict[DType, float], known: dict[DType, float], key: str) -> tuple[float, str]:
    """How much faster than the reference the file is in the format nearest in width that both have."""
    both = [d for d in given if d in known]
    if not both:
        return 1.0, f"as {key}"
    near = min(both, key=lambda d: abs(log(d.bytes / dtype.bytes)))
    return given[near] / known[near], f"scaled from {key} by the ratio in {near}"
