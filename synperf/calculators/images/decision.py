"""Which layout of images serves the hardware best.

Source: NVIDIA, "Convolutional Layers User's Guide": tensor cores take NHWC; oneDNN documentation, "Understanding Memory
Formats": blocks of as many channels as a vector has. Defaults: documentation of the frameworks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...errors import FieldError, UnknownNameError
from ...hardware import GPU, DType
from ...units import format_percent
from ..amounts import number
from .memory import BLOCKED

CPUS = {"avx512": 64, "avx2": 32, "neon": 16}  # bytes of a vector. Source: Intel SDM, volume 1; Arm ARM, Advanced SIMD
FRAMEWORKS = {"pytorch": "nchw", "onnx": "nchw", "tensorflow": "nhwc", "jax": "nhwc"}
_BLOCKING = ("avx512", "avx2")
_MOSTLY = 0.5  # of the FLOP in depthwise layers, from which they decide


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What the images are computed on: a GPU, or a CPU by its vector instructions."""

    gpu: GPU | None
    cpu: str | None
    framework: str | None
    depthwise_share: float

    def __post_init__(self) -> None:
        """Checks names and the share.

        Raises:
            FieldError: one is unknown, or there is not one of GPU and CPU.
        """
        if (self.gpu is None) == (self.cpu is None):
            raise FieldError("gpu: right would be either gpu or cpu, such as avx512")
        for field, known in (("cpu", CPUS), ("framework", FRAMEWORKS)):
            name = getattr(self, field)
            if name is not None and name not in known:
                raise FieldError(f"{field}: {UnknownNameError.among(field, name[:60], known)}")
        if not 0 <= number("depthwise_share", self.depthwise_share) <= 1:
            raise FieldError(f"depthwise_share must be 0 to 1, got {self.depthwise_share:g}")

    @property
    def default_layout(self) -> str:
        """What the framework keeps images in, if nobody asks for another."""
        return FRAMEWORKS[self.framework] if self.framework else "nchw"

    def block(self, dtype: DType) -> int:
        """Channels of a block: those of a vector."""
        return int((CPUS[self.cpu] if self.cpu else CPUS["avx512"]) / dtype.bytes)


def preferred(on: Target, dtype: DType) -> str:
    """The layout that the hardware is fastest in."""
    if on.cpu is not None:
        return BLOCKED if on.cpu in _BLOCKING else "nhwc"
    assert on.gpu is not None
    return "nhwc" if on.gpu.math_pipe(dtype) == "tensor" else on.default_layout


def because(on: Target, dtype: DType) -> Iterator[str]:
    """Why that one."""
    if on.cpu is not None:
        yield _of_cpu(on, dtype)
    else:
        assert on.gpu is not None
        yield from _of_gpu(on.gpu, on, dtype)
    if on.framework is not None:
        yield f"{on.framework} keeps images in {on.default_layout} unless it is told otherwise"


def _of_cpu(on: Target, dtype: DType) -> str:
    if on.cpu in _BLOCKING:
        many = on.block(dtype)
        return (f"{on.cpu}: a vector holds {many} values of {dtype}, so blocks of {many} channels fill it whatever the "
                "width; nhwc does too where channels are a multiple of that")  # fmt: skip
    return f"{on.cpu}: short vectors over neighbouring channels, which nhwc has side by side"


def _of_gpu(gpu: GPU, on: Target, dtype: DType) -> Iterator[str]:
    if gpu.math_pipe(dtype) != "tensor":
        yield f"{gpu.name} multiplies {dtype} without tensor cores, in either layout: what the framework has may stay"
        return
    yield (f"tensor cores of {gpu.name} take nhwc (channels_last): from nchw libraries transpose image and result "
           "themselves, for every convolution")  # fmt: skip
    if on.depthwise_share:
        few = "most of the time is theirs, and little is won" if on.depthwise_share >= _MOSTLY else "the others decide"
        yield (f"depthwise layers, {format_percent(on.depthwise_share)}, have one channel a group: no layout brings "
               f"them onto tensor cores, and they are bound by memory; {few}")  # fmt: skip
