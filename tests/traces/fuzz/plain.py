"""What devices did, counted here anew: of JSON as Python reads it, interval by interval, with no code of synperf."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

_WORK = {
    "kernel": "kernels", "gpu_memcpy": "copies", "memcpy": "copies", "gpu_memset": "copies", "memset": "copies",
}  # fmt: skip
_KNOWN = {
    "cuda_sync", "cuda_runtime", "cuda_driver", "runtime", "cpu_op", "operator", "user_annotation", "python_function",
    "gpu_user_annotation", "overhead", "trace", "cuda_profiler_range",
}  # fmt: skip
_DIGITS = 20  # of what 64 bits hold
_LONGEST_BLANK = 64  # letters between two events
_LONGEST_NS, _LATEST_NS = 2**53, 2**62  # what a duration and a start can be


@dataclass
class Counted:
    """Totals of each device, and how many events are not what they should be."""

    devices: dict[int, dict[str, int]] = field(default_factory=dict)
    odd: int = 0


def strict(text: bytes) -> Any:
    """The JSON of a text, None where it is none, or has two files in one.

    Bytes that are no UTF-8 and a list without its end count as right.
    """
    if text.count(b'"traceEvents"') > 1:
        return None
    readable = text.decode("utf-8-sig", "replace")
    for whole in (readable, readable.rstrip().rstrip(",") + "]"):
        try:
            return json.loads(whole, parse_float=Decimal, parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
    return None


def _refuse(word: str) -> Any:
    raise ValueError(word)


def count(events: Iterable[Any]) -> Counted:
    """The totals of these events."""
    found, seen = Counted(), set()
    work: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
    for event in events:
        if not isinstance(event, dict):
            found.odd += 1
            continue
        what = _what(event)
        if what is None:
            found.odd += _is_odd(event)
            continue
        place = _place(event)
        times = _ns(event.get("ts")), _ns(event.get("dur"))
        name = event.get("name")
        if None in times or times == (0, 0) or not 0 <= times[1] <= _LONGEST_NS or abs(times[0]) > _LATEST_NS:
            found.odd += 1
            continue
        key = json.dumps([*times, what, name, place, *_ids(event)], default=str)
        found.odd += key in seen or place is None or not isinstance(name, str) or not name
        if key not in seen:
            seen.add(key)
            work[-1 if place is None else place].append((times[0], times[0] + times[1], what))
    found.devices = {device: _totals(rows) for device, rows in work.items()}
    return found


def _what(event: dict[str, Any]) -> str | None:
    word = event.get("cat")
    return _WORK.get(word.lower()) if event.get("ph") == "X" and isinstance(word, str) else None


def _is_odd(event: dict[str, Any]) -> bool:
    """Whether an event that is no GPU work is not what any of that phase should be."""
    phase, word = event.get("ph"), event.get("cat")
    is_known = isinstance(word, str) and word.lower() in _KNOWN | set(_WORK)
    if phase == "X":
        return not is_known or None in (_ns(event.get("ts")), _ns(event.get("dur")))
    return not isinstance(phase, str) or (is_known and word.lower() != "trace")


def _ids(event: dict[str, Any]) -> list[Any]:
    """What tells apart events of one name, time and device: its places, launch and operator, in either spelling."""
    args = event.get("args") if isinstance(event.get("args"), dict) else {}
    thread = str(event.get("tid")).removeprefix("stream ")
    operator = args.get("External id", args.get("external id"))
    places = event.get("pid"), thread, args.get("stream", thread)
    return [str(value) for value in (*places, args.get("correlation"), operator)]


def _place(event: dict[str, Any]) -> int | None:
    args = event.get("args")
    own = args.get("device") if isinstance(args, dict) else None
    for value in (own, event.get("pid")):
        number = _whole(value)
        if number is not None and 0 <= number < 2**31:
            return number
    return None


def _whole(value: Any) -> int | None:
    if isinstance(value, bool) or value is None or isinstance(value, (list, dict)):
        return None
    try:
        number = Decimal(value)
        return int(number) if number.adjusted() < _DIGITS and number == int(number) else None
    except (ArithmeticError, ValueError):
        return None


def _ns(value: Any) -> int | None:
    """µs, as a number or as text, in whole ns."""
    if isinstance(value, (bool, list, dict)) or value is None:
        return None
    try:
        exact = Decimal(value)
        if exact.adjusted() >= _DIGITS:
            return 0 if not exact else None
        number = int((exact * 1000).to_integral_value(ROUND_HALF_UP))
    except (ArithmeticError, ValueError):
        return None
    return number if abs(number) < 2**63 else None


def _totals(rows: list[tuple[int, int, str]]) -> dict[str, int]:
    """Busy and span by walking over the ends in order."""
    busy, until = 0, min(begin for begin, _, _ in rows)
    for begin, end, _ in sorted(rows):
        busy += max(0, end - max(begin, until))
        until = max(until, end)
    kinds = [what for _, _, what in rows]
    return {
        "span_ns": until - min(begin for begin, _, _ in rows), "busy_ns": busy, "kernels": kinds.count("kernels"),
        "copies": kinds.count("copies"),
    }  # fmt: skip


def begun(text: bytes) -> list[Any]:
    """The events of a damaged file up to the first damage."""
    readable = text.decode("utf-8", "replace")
    place = readable.find("[", max(readable.find('"traceEvents"'), 0)) + 1
    decoder, found = json.JSONDecoder(parse_float=Decimal, parse_constant=_refuse), []
    while place:
        try:
            event, end = decoder.raw_decode(readable, place + _blanks(readable[place : place + _LONGEST_BLANK]))
        except (ValueError, RecursionError):
            break
        found.append(event)
        end += _blanks(readable[end : end + _LONGEST_BLANK])
        place = end + 1 if readable[end : end + 1] == "," else 0
    return found


def _blanks(text: str) -> int:
    return len(text) - len(text.lstrip(" \t\r\n"))
