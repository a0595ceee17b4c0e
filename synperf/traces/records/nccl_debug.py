"""What NCCL and RCCL tell with NCCL_DEBUG=INFO: ranks, rings, how they are connected, algorithm and protocol chosen.

Source: what init.cc, graph/ and enqueue.cc of NCCL 2.7 to 2.27 print; the numbers of algorithms and protocols are those
of nccl.h. Names of hosts are not kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from ...errors import FileFormatError
from ...light_classes import dataclass
from ..events import Caution
from ..sources import Source
from .damage import damage
from .lines import contains, lines

FORMAT = "nccl_debug"
_ANY = re.compile(rb"NCCL (?:INFO|WARN) ")
_LINE = re.compile(r"NCCL (INFO|WARN) (.*)")
_VERSION = re.compile(r"\b([NR]CCL) version\s*:?\s*([\w.+-]+)")
_RANK = re.compile(r"\bcomm (0x[0-9a-f]+) rank (\d+) nranks (\d+)\b.*?(Init START|Init COMPLETE)")
_RING = re.compile(r"Channel (\d+)/\d+ :((?:\s+\d+)+)\s*$")
_LINK = re.compile(r"Channel (\d+)(?:/\d+)? : (\d+)\[\w+\] -> (\d+)\[\w+\](?: \[(?:send|receive)\])? via ([\w/]+)")
_CHANNELS = re.compile(r"(\d+) coll channels")
_NETWORK = re.compile(r"Using network (.+?)\s*$")
_CHOICE = re.compile(r"(?:(\w+): )?(\d+) Bytes -> Algo (\w+) proto (\w+)(?: time ([\d.]+))?")
_SETTING = re.compile(r"\b(NCCL_[A-Z0-9_]+) set by environment to (\S+)")
_LOOKS = re.compile(r"\bBytes ->|-> Algo|\bproto \w+ |\bChannel \d")
_NUMBERED_DEVICE = re.compile(r"/\d+(?=/|$)")  # of a network: NET/IB/0/GDRDMA
_ALGORITHMS = ("tree", "ring", "collnet direct", "collnet chain", "nvls", "nvls tree", "pat")
_PROTOCOLS = ("ll", "ll128", "simple")
_TOLD = 160  # letters of a warning
_SHOWN = re.compile(
    r"NCCL_(ALGO|PROTO|MIN_NCHANNELS|MAX_NCHANNELS|NTHREADS|BUFFSIZE|P2P\w*|SHM\w*|NET_GDR\w*|IB_DISABLE|NVLS\w*|CROSS_NIC|CUMEM\w*)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Calls of one size that were given one algorithm and protocol. `collective` is empty where the log is older."""

    collective: str
    bytes: int
    algorithm: str
    protocol: str
    expected_s: float | None  # by NCCL's own model
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Communicator:
    """Ranks of one size that were told of: `begun` and `complete` count ranks over all communicators of that size."""

    ranks: int
    begun: int
    complete: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclDebug:
    """`links` counts connections by transport; `rings` are orders of ranks by channel, as rank 0 tells them."""

    source: str
    library: str
    version: str
    communicators: tuple[Communicator, ...]
    networks: tuple[str, ...]
    channels: int | None
    rings: Mapping[int, tuple[int, ...]]
    links: Mapping[str, int]
    choices: tuple[Choice, ...]
    settings: Mapping[str, str]
    warnings: Mapping[str, int]
    cautions: tuple[Caution, ...]


def recognises(head: bytes, path: Path) -> bool:
    """Whether NCCL has told anything in this file."""
    return contains(_ANY, head, path)


@dataclass(slots=True)
class _Told:
    library: str = ""
    version: str = ""
    channels: int | None = None
    lines: int = 0
    unread: int = 0
    begun: Counter[int] = field(default_factory=Counter)
    complete: Counter[int] = field(default_factory=Counter)
    networks: dict[str, None] = field(default_factory=dict)
    rings: dict[int, tuple[int, ...]] = field(default_factory=dict)
    links: Counter[str] = field(default_factory=Counter)
    choices: Counter[tuple[str, int, str, str, float | None]] = field(default_factory=Counter)
    settings: dict[str, str] = field(default_factory=dict)
    warnings: Counter[str] = field(default_factory=Counter)


def read(path: Path) -> NcclDebug:
    """What the log says of topology, channels and choices.

    Raises:
        FileFormatError: no line of NCCL can be read.
    """
    source, told = Source(path), _Told()
    for line in lines(source):
        version = _VERSION.search(line)
        if version:
            told.library, told.version = version[1], version[2]
        match = _LINE.search(line)
        if match:
            told.lines += 1
            _tell(told, match[1], match[2])
    if not told.lines:
        raise FileFormatError(f"{path.name}: no line of NCCL can be read")
    sizes = sorted(told.begun | told.complete)
    found = tuple(
        Communicator(ranks=n, begun=max(told.begun[n], told.complete[n]), complete=told.complete[n]) for n in sizes
    )
    return NcclDebug(
        source=path.name, library=told.library or "NCCL", version=told.version, communicators=found,
        networks=tuple(told.networks), channels=told.channels, rings=dict(sorted(told.rings.items())),
        links=dict(told.links.most_common()), choices=_choices(told), settings=told.settings,
        warnings=dict(told.warnings.most_common()),
        cautions=(*damage(source, "lines", told.unread, told.lines - told.unread), *_cautions(told, found)),
    )  # fmt: skip


def _tell(told: _Told, level: str, text: str) -> None:
    if level == "WARN":
        told.warnings[_without_places(text)[:_TOLD]] += 1
    elif match := _RANK.search(text):
        (told.complete if match[4] == "Init COMPLETE" else told.begun)[int(match[3])] += 1
    elif match := _RING.search(text):
        told.rings.setdefault(int(match[1]), tuple(map(int, match[2].split())))
    elif match := _LINK.search(text):
        told.links[_NUMBERED_DEVICE.sub("", match[4])] += 1
    elif match := _CHOICE.search(text):
        time_us = float(match[5]) if match[5] and match[5].count(".") < 2 else None
        choice = (match[1] or "", int(match[2]), _name(match[3], _ALGORITHMS), _name(match[4], _PROTOCOLS))
        told.choices[*choice, None if time_us is None else time_us * 1e-6] += 1
    elif match := _CHANNELS.search(text):
        told.channels = max(told.channels or 0, int(match[1]))
    elif match := _NETWORK.search(text):
        told.networks[match[1]] = None
    elif (match := _SETTING.search(text)) and _SHOWN.match(match[1]):
        told.settings[match[1]] = match[2].rstrip(".")
    elif _LOOKS.search(text):
        told.unread += 1


def _name(text: str, names: tuple[str, ...]) -> str:
    """Of a number or a word: `1` and `RING` are ring."""
    if text.isdecimal():
        return names[int(text)] if int(text) < len(names) else text
    return text.lower().replace("_", " ")


def _without_places(text: str) -> str:
    """A warning without addresses, which differ from rank to rank and name hosts."""
    return re.sub(r"\b\d{1,3}(\.\d{1,3}){3}(<\d+>)?|0x[0-9a-f]+|<[^>]*>", "...", text)


def _choices(told: _Told) -> tuple[Choice, ...]:
    """By collective and size."""
    return tuple(
        Choice(collective=name, bytes=size, algorithm=algorithm, protocol=protocol, expected_s=time, count=count)
        for (name, size, algorithm, protocol, time), count in sorted(told.choices.items(), key=lambda one: one[0][:4])
    )


def _cautions(told: _Told, found: tuple[Communicator, ...]) -> Iterator[Caution]:
    hung = sum(one.begun - one.complete for one in found)
    if hung:
        share = hung / sum(one.begun for one in found)
        yield Caution(
            text="ranks began and did not complete: they hung, or the log ends early", count=hung, share=share
        )
    if told.warnings:
        yield Caution(text="warnings of the library are in the log", count=told.warnings.total())
    if not told.choices:
        yield Caution(text="no algorithm and protocol is told: right would be NCCL_DEBUG_SUBSYS=INIT,GRAPH,TUNING,COLL")
