"""The catalog GPU that is nearest to a partial file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log
from typing import Any

from ..errors import FieldError
from .capability import capability
from .dtype import DType
from .fields import NUMBERS, PEAKS, Document, show
from .gpu import GPU
from .makers import NVIDIA
from .parse import flop_per_clk_per_sm

_FAR = log(8)  # a reference without a given format counts as one that is eight times off

Rates = Mapping[str, Mapping[DType, float]]  # pipe -> format -> FLOP per clock and SM


def new_kind(document: Document, where: str, everyone: Iterable[GPU]) -> str:
    """What no catalog GPU has of the stated architecture and compute capability, as the end of a sentence.

    Raises:
        FieldError: the architecture is almost that of a catalog GPU, so that it is taken for a slip.
    """
    said = ""
    for field in ("architecture", "compute_capability"):
        stated, known = document.get(field), {getattr(gpu, field) for gpu in everyone}
        if stated is not None and stated not in known:
            if field == "architecture":
                _require_no_slip(stated, known, where)
            said += f"; no catalog GPU has {field} {show(stated)}"
    return said


def _require_no_slip(architecture: str, known: Iterable[str], where: str) -> None:
    """Raise FieldError for a name close to a known one; one with a digit, such as `hopper2`, is a name of its own."""
    from difflib import get_close_matches  # slow to import, and GPUs of the catalog need none of it

    near = get_close_matches(architecture[:60].lower(), sorted(known), n=1, cutoff=0.8)
    if near and not any(c.isdigit() for c in architecture):
        raise FieldError(f"{where}: architecture: unknown {show(architecture)}; right would be {near[0]}")


def nearest(document: Document, where: str, candidates: Iterable[GPU]) -> GPU:
    """The most alike of the GPUs of the same compute capability, else of the same architecture, else major version,
    else maker, which is NVIDIA where the file says nothing of it.

    Alike per SM and per clock, so that a larger chip of the same kind stays near; where the file has no SMs or no
    clock, alike as a whole.
    """
    everyone = list(candidates)
    stated = document.get("compute_capability")
    maker = capability(stated).maker if stated else NVIDIA
    pool = [gpu for gpu in everyone if gpu.maker == maker] or everyone
    if stated:
        major = stated.partition(".")[0]
        pool = [gpu for gpu in everyone if gpu.compute_capability.partition(".")[0] == major] or pool
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
