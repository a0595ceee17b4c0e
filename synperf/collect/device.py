"""The device that is timed: what it is called, what it holds, and which software drives it."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

import torch

from .. import hardware
from ..errors import FieldError, UnknownNameError
from ..units import parse_quantity
from . import sensors
from .request import parse_device

FREE_SHARE = 0.8  # of the memory that is free: the rest is for what libraries take themselves
_UNTOLD_CACHE_BYTES = 512 * 2**20  # where nothing tells the size: twice the largest there is, 256 MiB of the MI300X
_CPU = Path("/sys/devices/system/cpu/cpu0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A GPU that torch sees, or the CPU. `gpu` is its key, where the catalog has its name."""

    torch: torch.device
    name: str
    gpu: str | None
    cache_bytes: int  # of the last level
    free_bytes: int
    driver: str | None
    runtime: str | None  # CUDA or ROCm, of torch
    host: str

    @property
    def is_cpu(self) -> bool:
        """Whether there is no GPU."""
        return self.torch.type == "cpu"


def device(name: str | None) -> Device:
    """The device of that name: `cpu`, `cuda`, `cuda:1`; else the first GPU. ROCm's GPUs are called `cuda` too.

    Raises:
        FieldError: there is no such device.
    """
    kind, number = parse_device(name)
    if kind == "cpu":
        return _cpu()
    has_gpu = torch.cuda.is_available()
    if name is None and not has_gpu:
        raise FieldError("device: torch sees no GPU here; right would be --device cpu, to time the CPU")
    count = torch.cuda.device_count() if has_gpu else 0
    if number >= count:
        raise FieldError(f"device: torch sees {count} GPUs here, so there is no {name!r}; --device cpu times the CPU")
    return _gpu(torch.device("cuda", number))


def _gpu(at: torch.device) -> Device:
    torch.cuda.set_device(at)
    properties, name = torch.cuda.get_device_properties(at), torch.cuda.get_device_name(at)
    runtime = f"ROCm {torch.version.hip}" if torch.version.hip else f"CUDA {torch.version.cuda}"
    return Device(
        torch=at,
        name=name,
        gpu=_key(name),
        cache_bytes=int(getattr(properties, "L2_cache_size", 0)) or _UNTOLD_CACHE_BYTES,
        free_bytes=int(FREE_SHARE * torch.cuda.mem_get_info(at)[0]),
        driver=sensors.driver(at),
        runtime=runtime,
        host=platform.node(),
    )


def _key(name: str) -> str | None:
    try:
        return hardware.gpu(name).key
    except UnknownNameError:
        return None


def _cpu() -> Device:
    return Device(
        torch=torch.device("cpu"),
        name=_cpu_name(),
        gpu=None,
        cache_bytes=_cpu_cache_bytes(),
        free_bytes=int(FREE_SHARE * _cpu_free_bytes()),
        driver=None,
        runtime=None,
        host=platform.node(),
    )


def _cpu_name() -> str:
    """The model that Linux tells, else the processor's kind."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()


def _cpu_cache_bytes() -> int:
    """The largest cache that Linux tells of the first core."""
    sizes = [path.read_text(encoding="ascii").strip() for path in _CPU.glob("cache/index*/size")]
    return max((int(parse_quantity(f"{size}i")) for size in sizes), default=_UNTOLD_CACHE_BYTES)


def _cpu_free_bytes() -> int:
    """Memory that is free; of a system that does not tell it, half of all."""
    pages = {"SC_AVPHYS_PAGES": 1.0, "SC_PHYS_PAGES": 0.5}
    name = next(name for name in pages if name in os.sysconf_names)
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf(name) * pages[name])
