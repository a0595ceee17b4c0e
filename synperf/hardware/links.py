"""Named links between GPUs, within a node and between nodes: one exists because its file is in `links/`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..errors import FieldError, UnknownNameError, UnsupportedError
from .gpu import GPU
from .names import squash
from .parse import read_text, toml

FOLDER = Path(__file__).parent / "links"
NVLINK, PCIE, NETWORK = "nvlink", "pcie", "network"
KINDS = (NVLINK, PCIE, NETWORK)
_HOST = "_host"  # how the names of links end that copy through host memory


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Link:
    """Published rate of one link, in one direction: of a GPU within a node, of a port between nodes.

    `efficiency` is the share of it that long messages reach where nothing was fitted. `beyond` is the kind of link that
    reaches more than `max_ranks` GPUs of one node; where there is none, more ranks are more nodes.
    """

    key: str
    name: str
    kind: str
    bytes_per_s: float
    efficiency: float
    max_ranks: int = 1
    nics_per_node: int = 1
    in_switch_reduction: bool = False
    beyond: str = ""
    gpus: tuple[str, ...] = ()  # whose link it is where a call names none
    aliases: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)

    def rate_of(self, gpu: GPU) -> float:
        """Bytes per second of one GPU in one direction: that of the link, or of the GPU where it is lower."""
        own = gpu.nvlink_bytes_per_s if self.kind == NVLINK else gpu.pcie_bytes_per_s
        return min(self.bytes_per_s, own) if own > 0 and self.kind != NETWORK else self.bytes_per_s


@cache
def keys() -> tuple[str, ...]:
    """Every link, by the name of its file."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@cache
def link(name: str) -> Link:
    """The link of that key or alias; case and separators do not matter.

    Raises:
        UnknownNameError: there is none.
    """
    found = _names().get(squash(name))
    if found is None:
        raise UnknownNameError.among("link", name[:60], keys())
    return found


def within(name: str) -> Link:
    """The link of that name, within a node.

    Raises:
        UnknownNameError: there is none.
        FieldError: it joins nodes.
    """
    found = link(name)
    if found.kind == NETWORK:
        raise FieldError(f"link: {found.key} joins nodes; right would be network={found.key}, with a link beside it")
    return found


def links() -> tuple[Link, ...]:
    """Every link, by key."""
    return tuple(_read(key) for key in keys())


def network(name: str) -> Link:
    """The link of that name, between nodes.

    Raises:
        UnknownNameError: there is none, or it joins GPUs of one node.
    """
    known = [one.key for one in links() if one.kind == NETWORK]
    found = _names().get(squash(name))
    if found is None or found.kind != NETWORK:
        raise UnknownNameError.among("network", name[:60], known)
    return found


def default_link(gpu: GPU) -> Link:
    """The link of a GPU within a node: that which names it, else the slowest that is no slower than its own rate.

    Raises:
        UnsupportedError: the GPU's file has no rate of any link.
    """
    named = next((one for one in links() if gpu.key in one.gpus), None)
    return named or _of_rate(gpu)


def pcie_of(gpu: GPU) -> Link:
    """The PCIe link of a GPU, with peer-to-peer.

    Raises:
        UnsupportedError: its file has no rate of it.
    """
    if not gpu.pcie_bytes_per_s:
        raise UnsupportedError(f"link: {gpu.key} has no pcie_bytes_per_s; right would be link=pcie4, or that field")
    return _slowest(PCIE, gpu.pcie_bytes_per_s)


def _of_rate(gpu: GPU) -> Link:
    if gpu.nvlink_bytes_per_s:
        return _slowest(NVLINK, gpu.nvlink_bytes_per_s)
    if gpu.pcie_bytes_per_s:
        return pcie_of(gpu)
    raise UnsupportedError(
        f"link: {gpu.key} has neither nvlink_bytes_per_s nor pcie_bytes_per_s; right would be link=NAME, such as pcie4"
    )


def _slowest(kind: str, rate: float) -> Link:
    """The slowest link of a kind that is no slower than a rate, else the fastest."""
    found = sorted(
        (one for one in links() if one.kind == kind and not one.beyond and not one.key.endswith(_HOST)),
        key=lambda one: (one.bytes_per_s, one.max_ranks),
    )
    return next((one for one in found if one.bytes_per_s >= rate), found[-1])


@cache
def _names() -> dict[str, Link]:
    aliases = {squash(name): one for one in links() for name in one.aliases}
    return aliases | {squash(one.key): one for one in links()}


@cache
def _read(key: str) -> Link:
    path = FOLDER / f"{key}.toml"
    return parse_link(read_text(path), key, path.name)


def parse_link(text: str, key: str, where: str) -> Link:
    """The link of a TOML text; `where` names it in messages.

    Raises:
        FileFormatError: not TOML.
        FieldError: a field is unknown, missing, or not what it should be.
    """
    document = toml(text, where)
    known = {f.name for f in fields(Link)} - {"key"}
    if unknown := sorted(set(document) - known):
        raise FieldError(f"{where}: {UnknownNameError.among('field', unknown[0], known)}")
    if missing := sorted({"name", "kind", "bytes_per_s", "efficiency", "sources"} - set(document)):
        raise FieldError(f"{where}: missing {', '.join(missing)}")
    if document["kind"] not in KINDS:
        raise FieldError(f"{where}: kind: {UnknownNameError.among('kind', str(document['kind']), KINDS)}")
    for name, least, most in (("bytes_per_s", 1e6, 1e18), ("efficiency", 1e-3, 1.0)):
        _check(document[name], name, least, most, where)
    values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in document.items()}
    return Link(key=key, **values | {"sources": MappingProxyType(values["sources"])})


def _check(value: Any, name: str, least: float, most: float, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise FieldError(f"{where}: {name}: {value!r} is not a number within {least:g} to {most:g}")
