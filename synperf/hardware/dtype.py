"""Number formats of operands, by the names that calls, tables and GPUs share."""

from __future__ import annotations

from enum import StrEnum


class DType(StrEnum):
    """An operand format. `fp8_block` is fp8 with a scale per 128 (activations) or 128 x 128 (weights) values."""

    FP32 = "fp32"
    TF32 = "tf32"
    FP16 = "fp16"
    BF16 = "bf16"
    FP8 = "fp8"
    FP8_BLOCK = "fp8_block"
    NVFP4 = "nvfp4"
    INT8 = "int8"

    @property
    def bytes(self) -> float:
        """Storage of one value in bytes, without scales. nvfp4 packs two values in a byte."""
        return _BYTES[self]

    @property
    def rate(self) -> DType:
        """The format under which a GPU lists the math rate: fp8_block multiplies as fp8."""
        return DType.FP8 if self is DType.FP8_BLOCK else self


_BYTES = {
    DType.FP32: 4.0,
    DType.TF32: 4.0,  # stored as fp32, truncated in the tensor core
    DType.FP16: 2.0,
    DType.BF16: 2.0,
    DType.FP8: 1.0,
    DType.FP8_BLOCK: 1.0,
    DType.NVFP4: 0.5,
    DType.INT8: 1.0,
}
