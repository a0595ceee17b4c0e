"""Filled values beside stated ones: a value that something stated rules out moves to the nearest that it allows."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, isclose
from typing import Any

from .fields import range_of

CLOCKS = ("base_clock_hz", "clock_hz", "max_clock_hz")  # ascending


def between(field: str, value: float, why: str, known: Mapping[str, Any]) -> tuple[float, str]:
    """`value` within the field's range and between the clocks that are known, and why it is that: `why` where it stays.

    A step of a rounding error keeps `why`.
    """
    place = CLOCKS.index(field) if field in CLOCKS else 0
    below, above = (CLOCKS[:place], CLOCKS[place + 1 :]) if field in CLOCKS else ((), ())
    least, most = range_of(field)
    low = max([(least, "the least of its range"), *((known[f], f"as stated {f}") for f in below if f in known)])
    high = min([(most, "the most of its range"), *((known[f], f"as stated {f}") for f in above if f in known)])
    bound = low if value < low[0] else high
    if low[0] <= value <= high[0]:
        return value, why
    return bound[0], why if isclose(value, bound[0]) else bound[1]


def moved_limits(stated: Mapping[str, Any], limits: Mapping[str, float]) -> dict[str, tuple[int, str]]:
    """The limits of a compute capability that a stated limit rules out: field -> (value, why).

    The shared memory of a CTA and what the system takes from it fit in that of the SM, and so do the threads of a CTA.
    """
    return _shared(stated, limits) | _threads(stated, limits)


def _shared(stated: Mapping[str, Any], limits: Mapping[str, float]) -> dict[str, tuple[int, str]]:
    names = ("shared_bytes_per_sm", "shared_bytes_per_cta", "reserved_shared_bytes_per_cta")
    sm, cta, reserved = (int(stated.get(name, limits[name])) for name in names)
    moved: dict[str, tuple[int, str]] = {}
    if names[1] not in stated and cta + reserved > sm:
        cta, why = (sm - reserved, f" less {names[2]}") if sm > reserved else (sm, "")
        moved[names[1]] = cta, f"{names[0]}{why}"
    if names[0] not in stated and cta + reserved > sm:
        sm = min(cta + reserved, int(range_of(names[0])[1]))
        moved[names[0]] = sm, f"{names[1]} and {names[2]}"
    if names[2] not in stated and cta + reserved > sm:
        moved[names[2]] = max(0, sm - cta), f"what {names[0]} leaves beside {names[1]}"
    return {name: (value, _as_stated(why, stated)) for name, (value, why) in moved.items() if value != limits[name]}


def _as_stated(why: str, stated: Mapping[str, Any]) -> str:
    """`why` with each stated field marked: `stated shared_bytes_per_sm less reserved_shared_bytes_per_cta`."""
    return "as " + " ".join(f"stated {word}" if word in stated else word for word in why.split(" "))


def _threads(stated: Mapping[str, Any], limits: Mapping[str, float]) -> dict[str, tuple[int, str]]:
    threads, warps = "max_threads_per_cta", "max_warps_per_sm"
    most = int(stated.get(threads, limits[threads]))
    warp = int(stated.get("warp_size", limits["warp_size"]))
    held = warp * int(stated.get(warps, limits[warps]))
    if most > held and threads not in stated:
        return {threads: (held, f"{warp} times {warps}, as stated")}
    if most > held and warps not in stated:
        return {warps: (ceil(most / warp), f"as stated {threads} needs")}
    return {}
