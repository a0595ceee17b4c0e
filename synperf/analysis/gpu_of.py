"""The GPU of the catalog that a trace names for a device, and its published limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..hardware import GPU, gpu
from ..hardware.names import resolve
from ..traces.events import Device


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A device, and its GPU; `gpu` is None where it is not known, and `reason` says why."""

    gpu: GPU | None
    num_sms: int | None
    reason: str = ""


def name_of(devices: Sequence[Device], number: int) -> str | None:
    """The name of the device: by its number, or the only name there is (ROCm numbers differ)."""
    names = {one.name for one in devices if one.number == number} or {one.name for one in devices}
    return names.pop() if len(names) == 1 else None


def gpu_of(devices: Sequence[Device], number: int) -> Known:
    """The GPU of a device; its SMs are those that the trace says, which may be a part of them (MIG)."""
    name = name_of(devices, number)
    if not name:
        return Known(gpu=None, num_sms=None, reason=f"the trace does not name the GPU of device {number}")
    said = next((one.num_sms for one in devices if one.name == name and one.num_sms), None)
    key, _ = resolve(name)  # only names: what looks like a path is no file here
    if not key:
        return Known(gpu=None, num_sms=said, reason=f"no GPU of the catalog is called {name!r}")
    found = gpu(key)
    return Known(gpu=found, num_sms=said or found.num_sms)
