"""2-D convolution as `torch.nn.functional.conv2d`."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import conv2d

from ..families.conv import out_size
from ..libraries import convolutions
from ..source import Source
from ..timed import Fields, Made

_LAYOUTS = {"nchw": torch.contiguous_format, "nhwc": torch.channels_last}


def conv(f: Fields, source: Source) -> Made:
    dtype, layout = f["dtype"], _LAYOUTS[f["layout"]]
    x = source.random(f["batch"], f["in_channels"], f["height"], f["width"], dtype=dtype)
    per_group = f["in_channels"] // f["groups"]
    w = source.random(f["out_channels"], per_group, f["kernel_h"], f["kernel_w"], dtype=dtype)
    x, w = x.to(memory_format=layout), w.to(memory_format=layout)
    source.written(f["batch"], f["out_channels"], *out_size(f), dtype=dtype)
    options: Any = {name: f[name] for name in ("stride", "padding", "dilation", "groups")}
    return Made(run=lambda: conv2d(x, w, **options), library=convolutions(source.device))
