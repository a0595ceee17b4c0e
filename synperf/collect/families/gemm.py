"""GEMM as `torch.matmul` with weights stored as [n, k], and for fp8 `torch._scaled_mm` with one scale an operand."""

from __future__ import annotations

from ..timed import Fields, Timed, made_by

_WIDTHS = (32, 64, 128, 256, 512, 1024, 2048, 4096, 5120, 8192, 14336, 16384)


def _flop(f: Fields) -> float:
    return float(2 * f["m"] * f["n"] * f["k"] * f["batch"])


def _keep(f: Fields) -> bool:
    return bool(f["dtype"] != "fp8" or f["batch"] == 1)  # there is no scaled product of batches


TIMED = (
    Timed(
        name="gemm",
        grid={"m": tuple(2**i for i in range(15)), "n": _WIDTHS, "k": _WIDTHS, "batch": (1,)},
        formats=("fp32", "fp16", "bf16", "fp8"),
        make=made_by("gemm", "gemm"),
        flop=_flop,
        keep=_keep,
        rule="batch 1 with fp8",
    ),
)
