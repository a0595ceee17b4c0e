"""One tensor of a file: NumPy's .npy, or .safetensors; values stay on disk until they are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ..errors import FieldError, FileFormatError

_MOST_HEADER = 100_000_000  # bytes; the format's own limit
_DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
    "U8": "u1",
}  # fmt: skip


def read_tensor(path: str | Path, name: str | None = None) -> np.ndarray:
    """The tensor of a .npy file, or the named one of a .safetensors file (the only one needs no name).

    bf16 comes as float32.

    Raises:
        FileFormatError: the file is neither, or damaged.
        FieldError: no such tensor, or several and none was named.
        OSError: it cannot be read.
    """
    file = Path(path)
    with file.open("rb") as opened:
        head = opened.read(8)
    if head.startswith(b"\x93NUMPY"):
        return _npy(file)
    return _safetensors(file, head, name)


def _npy(file: Path) -> np.ndarray:
    try:
        return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
    except (ValueError, EOFError, SyntaxError, TypeError) as error:
        raise FileFormatError(
            f"{file}: not a whole .npy file of numbers ({' '.join(str(error).split())[:100]})"
        ) from None


def _safetensors(file: Path, head: bytes, name: str | None) -> np.ndarray:
    size = file.stat().st_size
    length = int.from_bytes(head, "little")
    if len(head) < 8 or not 2 <= length <= min(_MOST_HEADER, size - 8):
        raise FileFormatError(f"{file}: neither .npy nor .safetensors by its first bytes")
    with file.open("rb") as opened:
        opened.seek(8)
        text = opened.read(length)
    try:
        tensors = msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError:
        raise FileFormatError(f"{file}: neither .npy nor .safetensors: its header is not JSON") from None
    tensors.pop("__metadata__", None)
    return _mapped(file, tensors, _chosen(file, tensors, name), 8 + length, size)


def _chosen(file: Path, tensors: Mapping[str, Any], name: str | None) -> str:
    if name is None and len(tensors) == 1:
        return next(iter(tensors))
    listed = ", ".join(list(tensors)[:5]) + (", ..." if len(tensors) > 5 else "")
    if name is None:
        raise FieldError(f"name: {file} has {len(tensors)} tensors; right would be one of {listed}")
    if name not in tensors:
        raise FieldError(f"name: {file} has no tensor {name[:60]!r}; right would be one of {listed}")
    return name


def _mapped(file: Path, tensors: Mapping[str, Any], name: str, start: int, size: int) -> np.ndarray:
    try:
        entry = tensors[name]
        kind, shape = entry["dtype"], tuple(int(one) for one in entry["shape"])
        first, last = (int(one) for one in entry["data_offsets"])
    except (KeyError, TypeError, ValueError):
        raise FileFormatError(f"{file}: the entry of tensor {name[:60]!r} is damaged") from None
    if kind not in _DTYPES:
        raise FieldError(
            f"name: tensor {name[:60]!r} is of {str(kind)[:20]}; right would be one of {', '.join(_DTYPES)}"
        )
    stored = np.dtype(_DTYPES[kind])
    if (
        min(shape, default=1) < 0
        or last - first != prod(shape) * stored.itemsize
        or not 0 <= first <= last <= size - start
    ):
        raise FileFormatError(f"{file}: tensor {name[:60]!r} does not fit the file: it is cut off or damaged")
    if not prod(shape):
        return np.zeros(shape, dtype=np.float32)
    values = np.memmap(file, dtype=stored, mode="r", offset=start + first, shape=shape)
    return (values.astype(np.uint32) << 16).view(np.float32) if kind == "BF16" else np.asarray(values)
