"""Clock, power and driver of a device, where something tells them; None where nothing does."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from shutil import which

import torch

_WAIT_S = 5.0
_CPU_CLOCK = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq")  # kHz
_AMD_DRIVER = Path("/sys/module/amdgpu/version")


def clock_hz(at: torch.device) -> float | None:
    """The clock of the SMs, or of the first core, at this moment. torch asks pynvml, on ROCm amdsmi."""
    if at.type == "cpu":
        return _scaled(_text(_CPU_CLOCK), 1e3)
    found = _asked(lambda: torch.cuda.clock_rate(at))
    return found * 1e6 if found else _scaled(_smi(at, "clocks.sm"), 1e6)


def power_w(at: torch.device) -> float | None:
    """The power that the GPU draws at this moment; of a CPU nothing is asked."""
    if at.type == "cpu":
        return None
    found = _asked(lambda: torch.cuda.power_draw(at))
    return found * 1e-3 if found else _scaled(_smi(at, "power.draw"), 1.0)


def driver(at: torch.device) -> str | None:
    """The version of the GPU's driver."""
    return _text(_AMD_DRIVER) if torch.version.hip else _smi(at, "driver_version")


def _asked(question: Callable[[], int]) -> int | None:
    """What a library of the driver answers; it may be missing, of another version, or refuse: all that is no answer."""
    try:
        return question()
    except Exception:
        return None


def _smi(at: torch.device, field: str) -> str | None:
    """A field of `nvidia-smi`."""
    program = which("nvidia-smi")
    if program is None or torch.version.hip:
        return None
    number = str(getattr(torch.cuda.get_device_properties(at), "uuid", at.index or 0))
    name = number if number.isdigit() else f"GPU-{number.removeprefix('GPU-')}"
    asked = [program, f"--id={name}", f"--query-gpu={field}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=_WAIT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def _scaled(text: str | None, unit: float) -> float | None:
    """A positive number of the unit; words such as `[N/A]` are none."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number * unit if number > 0 else None
