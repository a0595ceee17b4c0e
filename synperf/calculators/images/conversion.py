"""What a conversion between layouts costs, and after how many uses it has paid."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isfinite
from typing import Any

from ...errors import FieldError
from ...hardware import GPU, DType
from ...hardware.launch import launch_floor
from ..amounts import count as counted
from ..amounts import number
from .memory import Placed

_MOST_USES = 2**53


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """Bytes that are read and written once, their time at the bandwidth of DRAM, and the launch of a kernel for it.

    `break_even_uses` is the least number of uses that win the time back where each gains something, and
    `break_even_uses_with_launch` the launch too; `convert` says whether there are as many as that. What a GPU or a
    number that is not given would tell is None.
    """

    source: str
    target: str
    conversion_bytes: float
    conversion_s: float | None
    launch_s: float | None
    break_even_uses: int | None
    break_even_uses_with_launch: int | None
    convert: bool | None


def conversion(
    source: tuple[str, Placed], target: tuple[str, Placed], dtype: DType, gpu: GPU | None, gain_s: Any, uses: Any
) -> Conversion:
    """From one layout to another; between a layout and itself there is nothing to do.

    Raises:
        FieldError: the gain or the uses are not what they should be.
    """
    is_same = source[0] == target[0]
    moved = 0.0 if is_same else source[1].size_bytes + target[1].size_bytes
    time_s = None if gpu is None else moved / gpu.dram_bytes_per_s
    launch_s = 0.0 if gpu is None or is_same else launch_floor(gpu, "transpose", "plain", dtype)[0]
    even, later = (
        None if gain_s is None or time_s is None else _break_even(time_s + more, gain_s) for more in (0.0, launch_s)
    )
    count = None if uses is None else counted("uses", uses, _MOST_USES)
    return Conversion(
        source=source[0],
        target=target[0],
        conversion_bytes=moved,
        conversion_s=time_s,
        launch_s=None if gpu is None else launch_s,
        break_even_uses=even,
        break_even_uses_with_launch=later,
        convert=False if is_same else None if later is None or count is None else count >= later,
    )


def _break_even(time_s: float, gain_s: float) -> int:
    if not (isfinite(number("gain", gain_s)) and gain_s > 0):
        raise FieldError(f"gain must be a time above 0, such as 5us, got {gain_s:g} s")
    if time_s / gain_s > _MOST_USES:
        raise FieldError(f"gain must win the conversion back within 2^53 uses, got {gain_s:g} s")
    return ceil(time_s / gain_s)
