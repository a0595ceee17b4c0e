"""Which library torch calls on a device, by name and, where torch tells it, version."""

from __future__ import annotations

import re
from typing import Any

import torch


def blas(device: torch.device) -> str:
    """The library of matrix products: `cublas`, `cublaslt`, on ROCm rocBLAS or hipBLASLt, on a CPU MKL or another."""
    if device.type != "cuda":
        found = re.search(r"BLAS_INFO=(\w+)", torch.__config__.show())
        return found[1] if found else "blas"
    preferred = str(torch.backends.cuda.preferred_blas_library()).rpartition(".")[2].lower()
    return f"blas {preferred} of torch"


def convolutions(device: torch.device) -> str:
    """The library of convolutions: cuDNN, on ROCm MIOpen, on a CPU oneDNN."""
    cudnn: Any = torch.backends.cudnn
    onednn: Any = torch.backends.mkldnn
    if device.type != "cuda":
        return "onednn" if onednn.is_available() else "aten"
    if not cudnn.is_available():
        return "aten"
    return f"{'miopen' if torch.version.hip else 'cudnn'} {cudnn.version()}"
