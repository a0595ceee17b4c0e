"""Tiles of real launches: a table of what a profiler recorded, looked up by the nearest shape.

The table is a CSV file of the user's with a header. Columns: `m, n, k` and either `tile_m, tile_n, tile_k` (and
`split_k`) or `kernel_name` with `ctas` (the CTAs of the grid), from which they follow; `compute_capability`
says on which architecture it was recorded, `dtype` (bf16 where absent) in which format.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..csv_cells import too_long
from ..errors import FieldError, FileFormatError
from ..hardware import GPU, DType
from ..hardware.capability import apart, capabilities, capability
from ..hardware.makers import NVIDIA
from ..numeric import ceil_div, is_array
from .base import num_calls
from .fields import dtype_of, whole
from .gemm_call import Gemm
from .gemm_tiles import build, default_tile_k
from .kernel_names import parse

# Kernels are built per instruction set: mma.sync (Volta to Ada and consumer Blackwell), wgmma, tcgen05.
_STYLES = {6: 0, 7: 0, 8: 0, 12: 0, 9: 1, 10: 2, 11: 2}


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded launch."""

    compute_capability: str
    dtype: DType
    m: int
    n: int
    k: int
    tile_m: int
    tile_n: int
    tile_k: int | None
    split_k: int


@dataclass(frozen=True, slots=True, eq=False)
class TileProfile:
    """Recorded launches of one file."""

    name: str
    launches: tuple[Recorded, ...]

    def fill(self, call: Any, gpu: GPU) -> tuple[Any, str]:
        """The call with the tile of the nearest recorded (m, n, k), and a sentence that says which.

        Looked for on the same compute capability, else on the nearest one of the same instruction set. A call with
        a tile of its own, and one for which nothing was recorded, stay as they are.
        """
        if not isinstance(call, Gemm) or any(t is not None for t in (call.tile_m, call.tile_n, call.tile_k)):
            return call, f"tile: as given, {self.name} was not asked"
        known, capability = self._nearest_architecture(gpu, call.dtype)
        if not known:
            return call, f"tile: {self.name} has no {call.dtype} launch that fits {gpu.name}, so the least cost chose"
        at = _nearest(call, known)
        columns = {
            name: np.array([getattr(r, name) or default_tile_k(gpu, call.dtype) for r in known])[at]
            for name in ("tile_m", "tile_n", "tile_k", "split_k")
        }
        if num_calls(call) is None:
            columns = {name: int(value[0]) for name, value in columns.items()}
        return replace(
            call, **columns
        ), f"tile: nearest recorded launch of {self.name}, compute capability {capability}"

    def _nearest_architecture(self, gpu: GPU, dtype: DType) -> tuple[list[Recorded], str]:
        fitting = [r for r in self.launches if r.dtype is dtype and _fits(r, gpu)]
        near = {r.compute_capability for r in fitting if _style(r.compute_capability) == _style(gpu.compute_capability)}
        if not near:
            return [], ""
        best = min(near, key=lambda cc: (apart(cc, gpu.compute_capability), cc))
        return [r for r in fitting if r.compute_capability == best], best


def read(path: str | Path) -> TileProfile:
    """Read a table of recorded launches.

    Raises:
        FileFormatError: the file cannot be read or has no such columns; a row is not what it should be.
    """
    path, names, lines = Path(path), list[str](), list[str]()
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines += file
        reader = csv.DictReader(lines)
        names += reader.fieldnames or ()
        rows = list(reader)
    except OSError as error:
        raise FileFormatError(f"{path}: {error.strerror or error}") from None
    except (UnicodeDecodeError, ValueError) as error:  # ValueError: a NUL in the name
        raise FileFormatError(f"{path}: cannot be read as CSV ({error})") from None
    except csv.Error as error:
        line, said = too_long(lines, names) or (1, f"not CSV ({error})")
        raise FileFormatError(f"{path} line {line}: {said}") from None
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FileFormatError(f"{path}: column {twice[0]!r} is there twice")
    if not rows:
        raise FileFormatError(f"{path}: no rows")
    launches = []
    for number, row in enumerate(rows, start=1):
        try:
            launches.append(_recorded({k: v for k, v in row.items() if k is not None and v not in (None, "")}))
        except FieldError as error:
            raise FileFormatError(f"{path}, row {number}: {error}") from None
    return TileProfile(path.name, tuple(launches))


def _recorded(row: dict[str, str]) -> Recorded:
    missing = [name for name in ("compute_capability", "m", "n", "k") if name not in row]
    if missing:
        raise FieldError(f"missing {', '.join(missing)}")
    m, n, k = (int(whole(name, row[name])) for name in ("m", "n", "k"))
    _style(row["compute_capability"])
    dtype = dtype_of("dtype", row.get("dtype", "bf16"))
    if "tile_m" in row and "tile_n" in row:
        tile_m, tile_n = (int(whole(name, row[name])) for name in ("tile_m", "tile_n"))
        tile_k = int(whole("tile_k", row["tile_k"])) if "tile_k" in row else None
        split_k = int(whole("split_k", row.get("split_k", "1")))
    else:
        tile_m, tile_n, tile_k, split_k = _from_name(row, m, n)
    return Recorded(row["compute_capability"], dtype, m, n, k, tile_m, tile_n, tile_k, split_k)


def _from_name(row: dict[str, str], m: int, n: int) -> tuple[int, int, int | None, int]:
    """Tile and split-K from a kernel's name and its number of CTAs, which tells along which side each extent lies."""
    if "kernel_name" not in row or "ctas" not in row:
        raise FieldError("missing tile_m and tile_n, or kernel_name and ctas")
    named, ctas = parse(row["kernel_name"]), int(whole("ctas", row["ctas"]))
    if named is None:
        raise FieldError(f"kernel_name: {row['kernel_name'][:60]!r} says no tile")
    ways = [
        (named.second, named.first),
        (named.first, named.second),
    ]  # column-major first: cuBLAS from row-major callers
    for tile_m, tile_n in ways:
        slices, rest = divmod(ctas, int(ceil_div(m, tile_m) * ceil_div(n, tile_n)))
        if rest == 0 and slices > 0:
            return tile_m, tile_n, named.tile_k, slices
    return (*ways[0], named.tile_k, 1)  # a persistent grid: its size says nothing of the tiles


def _style(compute_capability: str) -> int | str:
    """The instruction set; of another maker the target itself."""
    if compute_capability in capabilities() and capability(compute_capability).maker != NVIDIA:
        return compute_capability
    try:
        major = int(float(compute_capability))
    except (ValueError, OverflowError):
        major = -1
    if major not in _STYLES:
        raise FieldError(f"compute_capability must be like 8.0 or 9.0, got {compute_capability!r}")
    return _STYLES[major]


@lru_cache(maxsize=65536)
def _fits(r: Recorded, gpu: GPU) -> bool:
    return build(gpu, r.dtype, r.tile_m, r.tile_n, r.tile_k or default_tile_k(gpu, r.dtype)) is not None


def _nearest(call: Gemm, known: list[Recorded]) -> np.ndarray:
    """Index of the recorded shape nearest to each call's, by Euclidean distance of (m, n, k), as the paper does it."""
    shapes = np.array([(r.m, r.n, r.k) for r in known], dtype=np.float64)
    size = num_calls(call) or 1
    wanted = np.stack(
        [np.broadcast_to(x, size) if is_array(x) else np.full(size, float(x)) for x in (call.m, call.n, call.k)], axis=1
    )
    return np.array([int(np.argmin(((shapes - point) ** 2).sum(axis=1))) for point in wanted])
