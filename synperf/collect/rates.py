"""A first timing of the device, for the estimates of a plan: what a call costs, bytes and FLOP per second."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from . import sensors
from .device import Device
from .families import family
from .source import Source
from .timed import Fields, Timed

_CALLS = 5
_LONG_S = 2e-3  # a product that takes so long is near the rate
_FIRST, _LAST = 64, 8192  # sizes of that product


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What a device did in a few calls; a plan needs no more than the order of it."""

    call_s: float
    bytes_per_s: float
    fill_bytes_per_s: float  # of random values
    sensors_s: float  # one reading of clock and power
    flop_per_s: dict[str, float]  # by format

    def call_time_s(self, timed: Timed, fields: Fields, num_bytes: float) -> float:
        """About how long a call takes: the launch, its bytes and its FLOP, one after the other."""
        math_s = timed.flop(fields) / self.flop_per_s[fields["dtype"]]
        return self.call_s + num_bytes / self.bytes_per_s + math_s


def rates(device: Device, dtypes: tuple[str, ...]) -> Rates:
    """Times a small copy, a large one, and a product in each format; one that the device lacks has the rate of fp32."""
    size = min(2 * device.cache_bytes, device.free_bytes // 4)
    Source(device.torch).random(1, dtype="fp32")  # the first draw takes long
    _finish(device)
    start = time.perf_counter()
    x = Source(device.torch).random(size // 4, dtype="fp32")
    _finish(device)
    fill_s = time.perf_counter() - start
    out = torch.empty_like(x)
    flop_per_s: dict[str, float] = {}
    for dtype in ("fp32", *dtypes):
        flop_per_s[dtype] = _flop_per_s(device, dtype) or flop_per_s["fp32"]
    return Rates(
        call_s=_time_s(device, lambda: out[:1].copy_(x[:1])),
        bytes_per_s=2 * size / _time_s(device, lambda: out.copy_(x)),
        fill_bytes_per_s=size / fill_s,
        sensors_s=_time_s(device, lambda: (sensors.clock_hz(device.torch), sensors.power_w(device.torch))),
        flop_per_s=flop_per_s,
    )


def _flop_per_s(device: Device, dtype: str) -> float | None:
    """The rate of a square product, doubled in size until it takes long enough."""
    gemm, size, rate = family("gemm"), _FIRST, None
    while size <= _LAST:
        fields = {"m": size, "n": size, "k": size, "batch": 1, "dtype": dtype}
        try:
            time_s = _time_s(device, gemm.make(fields, Source(device.torch)).run)
        except (RuntimeError, KeyError):
            return rate
        rate, size = gemm.flop(fields) / time_s, 2 * size
        if time_s > _LONG_S:
            break
    return rate


def _time_s(device: Device, run: Callable[[], object]) -> float:
    """The shortest of some calls, after one that is not timed."""
    run()
    return min(_once_s(device, run) for _ in range(_CALLS))


def _once_s(device: Device, run: Callable[[], object]) -> float:
    _finish(device)
    start = time.perf_counter()
    run()
    _finish(device)
    return time.perf_counter() - start


def _finish(device: Device) -> None:
    if not device.is_cpu:
        torch.cuda.synchronize(device.torch)
