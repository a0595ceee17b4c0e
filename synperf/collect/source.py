"""The tensors of a call: made on one device and counted."""

from __future__ import annotations

import torch

from .timed import FORMATS

_NO_E4M3FN = "gfx94"  # MI300's fp8 has no negative zero: PyTorch, torch.float8_e4m3fnuz


class Source:
    """Makes tensors on a device and adds up their bytes; on `meta` none takes memory."""

    def __init__(self, device: torch.device) -> None:
        self.device, self.bytes = device, 0

    def random(self, *shape: int, dtype: str) -> torch.Tensor:
        """Values drawn evenly from -1 to 1; of whole numbers, from all."""
        found = _drawn(shape, self._format(dtype), self.device)
        return self._counted(found)

    def empty(self, *shape: int, dtype: str) -> torch.Tensor:
        """A result to be written."""
        return self._counted(torch.empty(shape, dtype=self._format(dtype), device=self.device))

    def written(self, *shape: int, dtype: str) -> None:
        """Counts a result that torch makes itself."""
        self._counted(torch.empty(shape, dtype=self._format(dtype), device="meta"))

    def _counted(self, tensor: torch.Tensor) -> torch.Tensor:
        self.bytes += tensor.numel() * tensor.element_size()
        return tensor

    def _format(self, dtype: str) -> torch.dtype:
        is_cuda = self.device.type == "cuda" and torch.version.hip is not None
        if dtype == "fp8" and is_cuda and _architecture(self.device).startswith(_NO_E4M3FN):
            return torch.float8_e4m3fnuz
        found: torch.dtype = getattr(torch, FORMATS[dtype])
        return found


def _drawn(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    if not dtype.is_floating_point:
        return torch.randint(-128, 128, shape, dtype=dtype, device=device)
    if dtype.itemsize == 1:  # torch draws none of 8 bits
        return torch.empty(shape, dtype=torch.float16, device=device).uniform_(-1, 1).to(dtype)
    return torch.empty(shape, dtype=dtype, device=device).uniform_(-1, 1)


def _architecture(device: torch.device) -> str:
    return str(getattr(torch.cuda.get_device_properties(device), "gcnArchName", ""))
