"""A small CPU device with quick timing, and requests for it."""

import time
from dataclasses import replace
from types import SimpleNamespace

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


LAUNCH_NS = 50_000  # far more than the calls of tests take, and than what other work on the machine adds to them


def with_launches(monkeypatch):
    """Every call takes `LAUNCH_NS` at the least, and times are those of this thread, without other work's."""
    own = SimpleNamespace(perf_counter=time.perf_counter, perf_counter_ns=time.thread_time_ns)
    monkeypatch.setattr(timing, "time", own)
    warm = timing.CpuTimer.warm

    def launched(self, run, calls):
        def slow():
            end = time.thread_time_ns() + LAUNCH_NS
            run()
            while time.thread_time_ns() < end:
                pass

        return warm(self, slow, calls)

    monkeypatch.setattr(timing.CpuTimer, "warm", launched)


def request(*words, **changes):
    """What the words ask for, in fp32, both states of L2, one minute."""
    given = {"dtypes": ("fp32",), "minutes": 1.0, "seed": 0, "l2": ("warm", "cold"), "device": "cpu"} | changes
    return Request(families=parse_families(words), **given)


def with_memory(device, free_bytes):
    """The device with so much free memory."""
    return replace(device, free_bytes=free_bytes)
