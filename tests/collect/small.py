"""A small CPU device with quick timing, and requests for it."""

from dataclasses import replace

import torch

from synperf.collect import device as devices
from synperf.collect import timing
from synperf.collect.rates import Rates
from synperf.collect.request import Request, parse_families

CACHE_BYTES = 2**16
RATES = Rates(
    call_s=2e-6,
    bytes_per_s=1e10,
    fill_bytes_per_s=1e9,
    sensors_s=0.0,
    flop_per_s={"fp32": 1e10, "fp16": 1e10, "fp8": 1e10},
)


def quick(monkeypatch):
    """Few samples of a CPU with a small cache, of one thread, whose rates are not timed first; gives it."""
    for name, value in {"MEASURE_S": 1e-3, "WARM_UP_S": 1e-3, "LEAST_REPEATS": 3}.items():
        monkeypatch.setattr(timing, name, value)
    monkeypatch.setitem(timing.BATCH_S, "cpu", 1e-5)
    monkeypatch.setattr("synperf.collect.plan.rates", lambda *_: RATES)
    monkeypatch.setattr(devices, "_cpu_cache_bytes", lambda: CACHE_BYTES)
    torch.set_num_threads(1)
    return devices.device("cpu")


def request(*words, **changes):
    """What the words ask for, in fp32, both states of L2, one minute."""
    given = {"dtypes": ("fp32",), "minutes": 1.0, "seed": 0, "l2": ("warm", "cold"), "device": "cpu"} | changes
    return Request(families=parse_families(words), **given)


def with_memory(device, free_bytes):
    """The device with so much free memory."""
    return replace(device, free_bytes=free_bytes)
