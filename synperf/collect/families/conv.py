"""2-D convolution as `torch.nn.functional.conv2d`: dense and depthwise, in both layouts."""

from __future__ import annotations

from ..timed import Fields, Timed, made_by


def out_size(f: Fields) -> tuple[int, int]:
    """Height and width of the result."""
    height, width = (
        (f[size] + 2 * f["padding"] - f["dilation"] * (f[kernel] - 1) - 1) // f["stride"] + 1
        for size, kernel in (("height", "kernel_h"), ("width", "kernel_w"))
    )
    return height, width


def _flop(f: Fields) -> float:
    height, width = out_size(f)
    per_output = 2.0 * f["kernel_h"] * f["kernel_w"] * f["in_channels"] / f["groups"]
    return float(per_output * f["batch"] * f["out_channels"] * height * width)


def _keep(f: Fields) -> bool:
    """Square images and kernels, padded by half a kernel; channels in one group, or each in its own."""
    square = f["height"] == f["width"] and f["kernel_h"] == f["kernel_w"] and f["padding"] == f["kernel_h"] // 2
    if not square or min(out_size(f)) < 1:
        return False
    depthwise = f["groups"] == f["in_channels"] == f["out_channels"]
    return bool(f["groups"] == 1 or depthwise)


TIMED = (
    Timed(
        name="conv",
        grid={
            "batch": (1, 8, 32), "in_channels": (32, 128, 512), "out_channels": (32, 128, 512),
            "height": (7, 14, 28, 56, 112), "width": (7, 14, 28, 56, 112), "kernel_h": (1, 3, 7), "kernel_w": (1, 3, 7),
            "stride": (1, 2), "padding": (0, 1, 3), "dilation": (1,), "groups": (1, 32, 128, 512),
            "layout": ("nchw", "nhwc"),
        },
        formats=("fp32", "fp16", "bf16"),
        make=made_by("conv", "conv"),
        flop=_flop,
        keep=_keep,
        rule="square images and kernels, padding of half a kernel, groups 1 or as many as channels on both sides",
        fixed=("layout",),
    ),
)  # fmt: skip
