"""Number formats of operands, by the names that calls, tables and GPUs share."""

from __future__ import annotations

from enum import StrEnum


class DType(StrEnum):
    """An operand format. `fp8_block` is fp8 with a scale per 128 (activations) or 128 x 128 (weights) values.

    In the mixed formats weights are narrower than activations: `int4` and `mxfp4` weights are widened to bf16 and
    multiply at its rate; `mxfp4_fp8` (mxfp4 by mxfp8) and `int4_fp8` multiply at the rate of fp8.
    """

    FP32 = "fp32"
    TF32 = "tf32"
    FP16 = "fp16"
    BF16 = "bf16"
    FP8 = "fp8"
    FP8_BLOCK = "fp8_block"
    NVFP4 = "nvfp4"
    INT8 = "int8"
    INT4 = "int4"
    MXFP4 = "mxfp4"
    MXFP4_FP8 = "mxfp4_fp8"
    INT4_FP8 = "int4_fp8"

    @property
    def bytes(self) -> float:
        """Storage of one value in bytes, of a weight in mixed formats, without scales. 4 bits: two in a byte."""
        return _BYTES[self]

    @property
    def rate(self) -> DType:
        """The format under which a GPU lists the math rate: fp8_block multiplies as fp8, int4 weights as bf16."""
        return _RATE.get(self, self)

    @property
    def activations(self) -> DType:
        """The format of the activations, which mixed formats multiply in."""
        return self.rate if self.is_mixed else self

    @property
    def is_mixed(self) -> bool:
        """Whether weights are stored in fewer bits than activations."""
        return self in _MIXED

    @classmethod
    def _missing_(cls, value: object) -> DType | None:
        return _ALIASES.get(value) if isinstance(value, str) else None


_BYTES = {
    DType.FP32: 4.0,
    DType.TF32: 4.0,  # stored as fp32, truncated in the tensor core
    DType.FP16: 2.0,
    DType.BF16: 2.0,
    DType.FP8: 1.0,
    DType.FP8_BLOCK: 1.0,
    DType.NVFP4: 0.5,
    DType.INT8: 1.0,
    DType.INT4: 0.5,
    DType.MXFP4: 0.5,
    DType.MXFP4_FP8: 0.5,
    DType.INT4_FP8: 0.5,
}
_RATE = {
    DType.FP8_BLOCK: DType.FP8,
    DType.INT4: DType.BF16,
    DType.MXFP4: DType.BF16,
    DType.MXFP4_FP8: DType.FP8,  # PTX ISA, tcgen05.mma kind::mxf8f6f4: one rate for every mix of 8, 6 and 4 bits
    DType.INT4_FP8: DType.FP8,
}
_MIXED = frozenset((DType.INT4, DType.MXFP4, DType.MXFP4_FP8, DType.INT4_FP8))
_ALIASES = {  # as measured tables and engines call them
    "int4_wo": DType.INT4,
    "w4a16": DType.INT4,
    "w4a16_mxfp4": DType.MXFP4,
    "w4a8_mxfp4_mxfp8": DType.MXFP4_FP8,
    "w4afp8": DType.INT4_FP8,
}
