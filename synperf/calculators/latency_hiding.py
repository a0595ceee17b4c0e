"""How many bytes of loads have to be in flight so that the latency of memory is hidden, and which threads have them.

Source: J. D. C. Little, "A Proof for the Queuing Formula L = lambda W", Operations Research 9 (1961), as applied in
V. Volkov, "Understanding Latency Hiding on GPUs", UC Berkeley, 2016.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from ..errors import FieldError, UnknownNameError
from ..hardware import GPU
from ..hardware.latencies import LEVELS, latency
from ..units import format_binary, format_percent, format_quantity, format_time
from .amounts import count, positive

_WIDTHS = (4, 8, 16)  # bytes of one load of a thread
_CLOSE = 1e-9  # a thread more for less than that is a rounding error


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyHiding:
    """Loads of a whole GPU. `threads_per_sm` have to be resident with `loads` loads of `bytes_per_load` in flight each.

    `resident_threads` is what an SM holds, `loads_per_thread` what each of them needs in flight, and `attainable` the
    share of the bandwidth that they reach with `loads`.
    """

    level: str
    latency_cycles: float | None
    latency_s: float
    bandwidth: float
    sms: int
    bytes_per_load: int
    loads: int
    bytes_in_flight: float
    bytes_per_sm: float
    threads_per_sm: int
    warps_per_sm: int
    resident_threads: int
    loads_per_thread: int
    attainable: float
    why: tuple[str, ...]
    advice: tuple[str, ...]


def latency_hiding(
    gpu: GPU,
    *,
    level: str = "dram",
    latency_cycles: float | None = None,
    latency_s: float | None = None,
    bandwidth: float | None = None,
    bytes_per_load: int = 16,
    loads: int = 1,
    threads: int | None = None,
) -> LatencyHiding:
    """What has to be in flight to and from a level of the memory of a GPU; latency and bandwidth default to its own.

    `threads` of an SM are resident, by default all that it holds.

    Raises:
        FieldError: a number is out of range; no latency was measured, and none is given.
        UnknownNameError: no such level.
    """
    if level not in LEVELS:
        raise UnknownNameError.among("level", level, LEVELS)
    cycles, seconds, measured_on = _latency(gpu, level, latency_cycles, latency_s)
    rate = _bandwidth(gpu, level) if bandwidth is None else bandwidth
    positive(latency_s=seconds, bandwidth=rate)
    width, each = count("bytes_per_load", bytes_per_load, 1024), count("loads", loads, 4096)
    most = gpu.sm.max_threads_per_sm
    held = most if threads is None else count("threads", threads, most)
    of_gpu = seconds * rate
    of_sm = of_gpu / gpu.num_sms
    needed = _whole(of_sm / (width * each))
    return LatencyHiding(
        level=level,
        latency_cycles=cycles,
        latency_s=seconds,
        bandwidth=rate,
        sms=gpu.num_sms,
        bytes_per_load=width,
        loads=each,
        bytes_in_flight=of_gpu,
        bytes_per_sm=of_sm,
        threads_per_sm=needed,
        warps_per_sm=ceil(needed / gpu.warp_size),
        resident_threads=held,
        loads_per_thread=_whole(of_sm / (held * width)),
        attainable=min(1.0, held * width * each / of_sm),
        why=tuple(_why(gpu, level, cycles, seconds, rate, of_sm, measured_on)),
        advice=tuple(_advice(held, width, each, of_sm, most)),
    )


def _whole(needed: float) -> int:
    """So many whole ones, at least one."""
    return max(1, ceil(needed - _CLOSE))


def _latency(
    gpu: GPU, level: str, cycles: float | None, seconds: float | None
) -> tuple[float | None, float, str | None]:
    """Cycles where they are known, seconds, and on which GPU they were measured if the user gave neither."""
    if cycles is not None and seconds is not None:
        raise FieldError("latency_s: given beside latency_cycles; right would be one of them")
    if seconds is not None:
        return None, seconds, None
    if cycles is not None:
        positive(latency_cycles=cycles)
        return cycles, cycles / gpu.clock_hz, None
    known = latency(gpu, level)
    return known.cycles, known.cycles / gpu.clock_hz, known.on


def _bandwidth(gpu: GPU, level: str) -> float:
    shared = gpu.shared_bytes_per_clk_per_sm * gpu.clock_hz * gpu.num_sms
    return {"dram": gpu.dram_bytes_per_s, "l2": gpu.l2_bytes_per_s, "shared": shared}[level]


def _why(
    gpu: GPU, level: str, cycles: float | None, seconds: float, rate: float, of_sm: float, measured_on: str | None
) -> Iterator[str]:
    waits = f"a load from {level} waits {format_time(seconds)}"
    if cycles is not None:
        waits += f", {cycles:g} cycles at {format_quantity(gpu.clock_hz, 'Hz')}"
    yield waits + ("" if measured_on is None else f", as measured on an idle {measured_on}")
    yield (
        f"at {format_quantity(rate, 'B/s', 4)} that many bytes pass meanwhile: "
        f"{format_quantity(of_sm * gpu.num_sms, 'B', 4)} have to be in flight, "
        f"{format_binary(of_sm)} on each of {gpu.num_sms} SMs"
    )


def _advice(held: int, width: int, each: int, of_sm: float, most: int) -> Iterator[str]:
    reached = held * width * each / of_sm
    if reached >= 1:
        yield f"{held} resident threads are enough: they can have {reached:.3g} times that in flight"
    else:
        with_loads = f"{each} load{'' if each == 1 else 's'} of {width} bytes each"
        yield f"{held} resident threads with {with_loads} reach {format_percent(reached)} of the bandwidth at most"
        yield f"{_whole(of_sm / (held * width))} independent loads in each of them hide it"
    for other in _WIDTHS:
        if other != width:
            needed = _whole(of_sm / (other * each))
            note = "" if needed <= most else f", more than the {most:,} that an SM holds"
            yield f"with loads of {other} bytes it takes {needed:,} threads of an SM{note}"
