"""What stands beside the events of a Kineto file: devices, ranks, and what of the host may be shown.

Metadata may hold host names, paths and credentials: only the fields that are named here are read, nothing else is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from .events import Caution, Device
from .json_pieces import mended
from .loose import JUNK, json_object, number

_VERSIONS = (
    "cupti_version", "cuda_runtime_version", "cuda_driver_version", "roctracer_version", "rocprofiler-sdk_version",
    "hip_runtime_version", "hip_driver_version", "record_shapes", "with_stack", "with_flops", "with_modules",
    "profile_memory",
)  # fmt: skip
_LISTED = ("deviceProperties", "computeProperties")
_LOGS = ("ERROR", "WARNING", "INFO")
_DROPPED = "Out-of-range"


class Host:
    """The metadata of one file, of the objects that stand beside its events."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        self._metadata: dict[str, Raw] = {}
        self.mended = 0  # objects
        self.is_lost = False
        for text in texts:
            self._add(text)
        self._unread: dict[str, None] = {}
        distributed = _mapping(self._value("distributedInfo"))
        self.rank = _count(distributed.get("rank"))
        self.world_size = _count(distributed.get("world_size"))
        self.groups = {str(g.get("pg_name")): _numbers(g.get("ranks")) for g in _mappings(distributed.get("pg_config"))}
        self.base_ns = max(number(self._value("baseTimeNanoseconds")), 0)
        self.devices = tuple(map(_device, _mappings(self._value(*_LISTED))))
        self.versions = {name: str(value) for name in _VERSIONS if isinstance(value := self._value(name), int | str)}

    def cautions(self, base_ns: int) -> list[Caution]:
        """What the profiler itself says that it dropped, a base time that cannot be one, fields that are damaged."""
        lines = [str(line) for name in _LOGS for line in _list(self._value(name))]
        dropped = sum(_after(line, _DROPPED) for line in lines if _DROPPED in line)
        found = []
        if dropped:
            found.append(Caution(text="the profiler dropped events that were out of its window", count=dropped))
        if base_ns != self.base_ns:
            found.append(Caution(text=f"baseTimeNanoseconds {self.base_ns} is past the year 2116 and left out"))
        if self._unread:
            found.append(Caution(text=f"fields beside the events cannot be read: {', '.join(self._unread)}"))
        return found

    def _add(self, text: bytes) -> None:
        """Adds the fields of an object."""
        for one in (text, mended(text)):
            try:
                self._metadata |= json_object(one)
            except JUNK:
                continue
            self.mended += one is not text
            return
        self.is_lost = True

    def _value(self, *names: str) -> Any:
        for name in names:
            if name in self._metadata:
                try:
                    return msgspec.json.decode(self._metadata[name])
                except JUNK:
                    self._unread[name] = None
                    return None
        return None


def _device(found: Mapping[str, Any]) -> Device:
    major, minor = number(found.get("computeMajor")), number(found.get("computeMinor"))
    return Device(
        number=number(found.get("id")),
        name=str(found.get("name", "")),
        num_sms=_count(found.get("numSms")),
        dram_bytes=_count(found.get("totalGlobalMem")),
        warp_size=_count(found.get("warpSize")),
        compute_capability=(major, minor) if major >= 0 and minor >= 0 else None,
    )


def _after(line: str, word: str) -> int:
    """The number that follows `word =` in a line."""
    digits = line.partition(word)[2].lstrip(" =:")
    return max(number(digits.split()[0].rstrip(",.;")), 0) if digits.split() else 0


def _count(value: Any) -> int | None:
    found = number(value)
    return found if found >= 0 and value is not None else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in _list(value) if isinstance(one, dict)]


def _numbers(value: Any) -> tuple[int, ...]:
    return tuple(number(one) for one in _list(value))
