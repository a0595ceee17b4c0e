"""The GPU of the catalog that a trace names for a device, and its published limits."""

from __future__ import annotations

from collections.abc import Sequence

from ..hardware import GPU
from ..hardware.catalog import published
from ..hardware.names import resolve
from ..light_classes import dataclass
from ..traces.events import Device, Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A device and the key of its GPU, empty where it is not known: `reason` says why.

    `num_sms` are those that the trace says, which may be a part of the GPU (MIG). `assumed` is what a name that several
    parts share was taken for.
    """

    rank: int | None
    device: int
    key: str = ""
    num_sms: int | None = None
    assumed: str = ""
    reason: str = ""

    @property
    def gpu(self) -> GPU | None:
        """Its published limits."""
        return published(self.key) if self.key else None


def name_of(devices: Sequence[Device], number: int) -> str | None:
    """The name of the device: by its number, or the only name there is (ROCm numbers differ)."""
    names = {one.name for one in devices if one.number == number} or {one.name for one in devices}
    return names.pop() if len(names) == 1 else None


def gpu_of(trace: Trace, number: int) -> Known:
    """The GPU of a device of a trace."""
    name = name_of(trace.devices, number)
    if not name:
        return Known(rank=trace.rank, device=number, reason=f"the trace does not name the GPU of device {number}")
    said = next((one.num_sms for one in trace.devices if one.name == name and one.num_sms), None)
    key, assumed = resolve(name)  # only names: what looks like a path is no file here
    if not key:
        reason = f"no GPU of the catalog is called {name!r}"
        return Known(rank=trace.rank, device=number, num_sms=said, reason=reason)
    return Known(rank=trace.rank, device=number, key=key, num_sms=said or published(key).num_sms, assumed=assumed)
