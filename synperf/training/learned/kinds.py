"""Which kernels one kind of GPU alone ran: of these a network that knows no GPU says nothing on GPUs of other kinds."""

from __future__ import annotations

from ... import hardware
from ...hardware.twins import kin
from .data import Table


def kind_of(gpu: str) -> str:
    """What a GPU shares with those that run the same kernels; one that the catalog lacks is a kind of its own."""
    known = hardware.keys()
    return kin(hardware.gpu(gpu).compute_capability) if gpu in known else gpu


def alone(table: Table) -> dict[str, str]:
    """The kind by group, `engine.kernel` and `*.kernel`, of those that no other kind ran."""
    kinds: dict[str, set[str]] = {}
    for gpu, engine, kernel in sorted(set(zip(table.gpu, table.engine, table.kernel, strict=True))):
        for group in (f"{engine}.{kernel}", f"*.{kernel}"):
            kinds.setdefault(group, set()).add(kind_of(gpu))
    return {group: found.pop() for group, found in sorted(kinds.items()) if len(found) == 1}
