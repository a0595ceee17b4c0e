"""Why a layout is preferred and what a conversion to it costs, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...units import counted, format_quantity, format_time
from .conversion import Conversion
from .decision import Target
from .memory import BLOCKED, Images, Placed


def reading(of: Images, layouts: Mapping[str, Placed]) -> Iterator[str]:
    """What lanes touch in each layout, which is why layouts matter."""
    wide = min(32, of.channels)
    each = ", ".join(f"{name} {one.sectors_of_channels}" for name, one in layouts.items() if name != BLOCKED)
    yield f"{counted(wide, 'lane')} that read {wide} channels of one point touch, in sectors of 32 bytes: {each}"
    padded = of.blocks * of.block - of.channels
    if padded:
        yield (f"{BLOCKED}: {of.channels} channels in blocks of {of.block} are padded by {padded}: "
               f"{format_quantity(layouts[BLOCKED].size_bytes, 'B', 4)}")  # fmt: skip


def of_conversion(found: Conversion) -> Iterator[str]:
    """What a conversion moves and takes."""
    if found.source == found.target:
        yield f"images are in {found.source} already: there is nothing to convert"
        return
    said = f"{found.source} to {found.target} reads and writes once, {format_quantity(found.conversion_bytes, 'B', 4)}"
    if found.conversion_s is None or found.launch_s is None:
        yield said
        return
    yield (f"{said}: {format_time(found.conversion_s)} of DRAM, and {format_time(found.launch_s)} for a launch of its "
           "own, which falls away where the conversion is part of another kernel")  # fmt: skip
    if found.break_even_uses is not None:
        yield (f"{counted(found.break_even_uses, 'use')} win the {format_time(found.conversion_s)} back, "
               f"{found.break_even_uses_with_launch:,} the launch too")  # fmt: skip


def advised(found: Conversion, best: str, on: Target) -> Iterator[str]:
    """What to do: convert once, at the border, or not at all."""
    if found.convert:
        yield f"convert to {found.target} once, before the first layer, and back after the last"
    elif found.convert is False and found.source != found.target:
        yield f"stay with {found.source}: there are fewer uses than {found.break_even_uses_with_launch:,}"
    elif found.source == best:
        yield f"none needed: {best} is what this hardware is fastest in"
    elif found.break_even_uses is None:
        yield f"keep images in {best} from the first layer to the last; give --gain and --uses to weigh a conversion"
    else:
        yield f"convert to {found.target} for {found.break_even_uses_with_launch:,} uses or more; give --uses"
    if on.framework == "pytorch" and best == "nhwc":
        yield "in PyTorch: model.to(memory_format=torch.channels_last), and the input too"
