"""Lines of XPlane profiles to events: streams of GPUs, and threads of the host."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import islice
from math import nan
from typing import Any

import numpy as np

from .building import Builder
from .events import Kind
from .protobuf import Damage
from .xplane_messages import Event, Line, Plane, Stat, line_events, read_event, read_line, read_stats

_STREAM = re.compile(r"Stream #(\d+)")
_COPY = re.compile(r"^Memcpy(\w*)")
_SIDES = {"H2D": "HtoD", "D2H": "DtoH", "D2D": "DtoD", "H2H": "HtoH", "P2P": "PtoP"}
_CALL, _DRIVER = re.compile(r"^(cuda|hip|cu)[A-Z]"), re.compile(r"^cu[A-Z]")
_DETAIL = re.compile(r"(\w+):(\S*)")
_LATEST = 2**62  # ns: no clock reads more
_BATCH = 2**10  # events of a line that are parsed at once
_PS = 1000  # in a ns


class Rows:
    """Adds the lines of planes to one event table; `left_out` counts what is not in it."""

    def __init__(self, damage: Damage) -> None:
        self.builder = Builder()
        self.damage = damage
        self.left_out: Counter[str] = Counter()

    def add(self, plane: Plane, device: int | None) -> None:
        """The lines of a plane: of that device, or of the host."""
        for data in plane.lines:
            line, events = read_line(data, self.damage), line_events(data)
            while batch := list(islice(events, _BATCH)):
                timed = (read_event(one, self.damage) for one in batch)
                self._add_events(plane, line, device, [event for event in timed if self._is_timed(line, event)])

    def _add_events(self, plane: Plane, line: Line, device: int | None, found: list[Event]) -> None:
        if not found:
            return
        stream = _STREAM.search(line.name)
        if device is None:
            self._host(plane, line, found)
        elif stream:
            self._stream(plane, line, found, device=device, stream=int(stream[1]))
        else:
            names = self._names(plane, found)
            self._add(line, found, Kind.GPU_ANNOTATION, names, device=device, stream=line.number)

    def _is_timed(self, line: Line, event: Event) -> bool:
        if event.offset_ps is None:
            self.left_out["events that are counted and have no time"] += 1
        elif event.dur_ps < 0:
            self.left_out["events with a negative duration"] += 1
        elif not 0 <= line.begin_ns + event.offset_ps // _PS <= _LATEST:
            self.left_out["events with an impossible time"] += 1
        else:
            return True
        return False

    def _names(self, plane: Plane, found: list[Event]) -> list[int]:
        texts = [plane.names.get(event.name, "") for event in found]
        self.left_out["names of events"] += texts.count("")
        return [self.builder.texts[text] for text in texts]

    def _add(self, line: Line, found: list[Event], kind: Any, names: list[int], **columns: Any) -> Any:
        start = np.array([event.offset_ps for event in found], dtype=np.int64)
        dur = np.array([event.dur_ps for event in found], dtype=np.int64)
        half = _PS // 2
        return self.builder.add(
            len(found), kind=kind, name=names, start_ns=line.begin_ns + (start + half) // _PS,
            dur_ns=(dur + half) // _PS, **columns,
        )  # fmt: skip

    def _host(self, plane: Plane, line: Line, found: list[Event]) -> None:
        stats = [read_stats(event.stats, plane, self.damage) for event in found]
        texts = [plane.names.get(event.name, "") for event in found]
        kinds = [_host_kind(text, said) for text, said in zip(texts, stats, strict=True)]
        names = [
            f"step {said['step_num']}" if "step_num" in said else text for text, said in zip(texts, stats, strict=True)
        ]
        correlation = [_number(said, "correlation_id") for said in stats]
        ids = [self.builder.texts[name] for name in names]
        self._add(line, found, kinds, ids, thread=line.number, correlation=correlation)

    def _stream(self, plane: Plane, line: Line, found: list[Event], **place: int) -> None:
        stats = [read_stats(event.stats, plane, self.damage) for event in found]
        self._names(plane, found)
        texts = [plane.names.get(event.name, "") for event in found]
        kinds = np.array([_gpu_kind(text) for text in texts])
        names = [self.builder.texts[_copy_name(text, said)] for text, said in zip(texts, stats, strict=True)]
        correlation = [_number(said, "correlation_id") for said in stats]
        added = self._add(line, found, kinds, names, correlation=correlation, **place)
        moved = [_copied(said) for said in stats]
        rows = np.flatnonzero((kinds != Kind.KERNEL) & (np.array(moved) >= 0))
        self.builder.add_side("moved", added[rows], bytes=np.array(moved)[rows])
        self._geometry(added, stats)

    def _geometry(self, added: Any, stats: list[dict[str, Stat]]) -> None:
        details = [_details(said, "kernel_details") for said in stats]
        rows = [row for row, said in enumerate(details) if said]
        kept = [details[row] for row in rows]
        if kept:
            self.builder.add_side(
                "geometry", added[rows], grid=[_extent(one.get("grid")) for one in kept],
                block=[_extent(one.get("block")) for one in kept], registers=[_whole(one.get("regs")) for one in kept],
                shared_bytes=[_shared(one) for one in kept], occupancy=[_occupancy(one) for one in kept],
            )  # fmt: skip


def _host_kind(name: str, stats: dict[str, Stat]) -> Kind:
    if _CALL.match(name):
        return Kind.DRIVER if _DRIVER.match(name) else Kind.RUNTIME
    if "correlation_id" in stats:
        return Kind.RUNTIME
    if "step_num" in stats:
        return Kind.ANNOTATION
    return Kind.PYTHON if name.startswith("$") else Kind.OPERATOR


def _gpu_kind(name: str) -> Kind:
    if _COPY.match(name):
        return Kind.MEMCPY
    return Kind.MEMSET if name.startswith("Memset") else Kind.KERNEL


def _copy_name(name: str, stats: dict[str, Stat]) -> str:
    """`MemcpyH2D` as the PyTorch profiler writes it: `Memcpy HtoD (Pinned -> Device)`; other names as they are."""
    match = _COPY.match(name)
    if match is None:
        return name
    said = _details(stats, "memcpy_details")
    sides = [said.get(key, "").capitalize() for key in ("kind_src", "kind_dst")]
    return f"Memcpy {_SIDES.get(match[1], match[1])}" + (f" ({' -> '.join(sides)})" if all(sides) else "")


def _copied(stats: dict[str, Stat]) -> int:
    return _whole((_details(stats, "memcpy_details") or _details(stats, "memset_details")).get("size"))


def _number(stats: dict[str, Stat], name: str) -> int:
    value = stats.get(name)
    return value if isinstance(value, int) else -1


def _details(stats: dict[str, Stat], name: str) -> dict[str, str]:
    """`regs:32 grid:16,1,1` by keys."""
    return _by_keys(str(stats[name])) if name in stats else {}


@lru_cache(maxsize=1024)
def _by_keys(text: str) -> dict[str, str]:
    return dict(_DETAIL.findall(text))


def _whole(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 19 else -1  # 19 digits may not be held by 64 bits


@lru_cache(maxsize=1024)
def _extent(text: str | None) -> list[int]:
    found = [_whole(part) for part in (text or "").split(",")]
    return found if len(found) == 3 else [-1, -1, -1]


def _shared(details: dict[str, str]) -> int:
    found = [_whole(details[key]) for key in ("static_shared", "dynamic_shared", "group_mem") if key in details]
    return sum(found) if found and min(found) >= 0 else -1


def _occupancy(details: dict[str, str]) -> float:
    """0 stands for one that was not worked out."""
    try:
        return float(details.get("occ_pct", "nan")) / 100 or nan
    except ValueError:
        return nan
