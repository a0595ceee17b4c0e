"""The kernel tables of the package aiconfigurator-core, read in place and one GPU at a time.

What the tables hold is in docs/measurements.md; what is dropped or renamed, and why, in aiconfigurator.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError, UnknownNameError
from .audit import FileAudit
from .schema import Rows

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FileAudit", "audit", "folder", "gpus", "read", "read_all", "read_torch", "source"]

_PACKAGE = "aiconfigurator_core"
_DISTRIBUTION = "aiconfigurator-core"
_WHAT = "reading measured rows"


def folder() -> Path:
    """Where the installed package keeps its tables; the package itself is not imported.

    Raises:
        MissingExtraError: it is not installed.
    """
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError.of(_WHAT, "data")
    return Path(spec.submodule_search_locations[0]) / "systems" / "data"


def source() -> str:
    """The package and the version that is installed, or that the rules are for where none is."""
    try:
        return f"{_DISTRIBUTION} {version(_DISTRIBUTION)}"
    except PackageNotFoundError:
        return str(_rules()["package"])


def gpus(family: str = "gemm", root: Path | None = None) -> tuple[str, ...]:
    """Keys of the GPUs that have a table of the family and are in scope.

    Raises:
        MissingExtraError, UnknownNameError: as `read`.
    """
    root, found = root or folder(), _spec(family)
    return tuple(gpu for gpu in sorted(_rules()["devices"]) if _paths(root / gpu, found))


def read(gpu: str, family: str = "gemm", root: Path | None = None) -> Rows:
    """Every measured row of one GPU, duplicates merged, ordered by engine, version, kernel, format and shape.

    Raises:
        MissingExtraError: the extra [data] is not installed.
        UnknownNameError: no table for that GPU or family.
        FileFormatError: a file lacks a column, or its times are not in the unit they should be in.
    """
    return _rows(_kept(gpu, family, root or folder()), family)


def read_torch(gpu: str, root: Path | None = None) -> Rows:
    """The 16-bit cuBLAS GEMMs of one GPU under engine `torch`: the frameworks' timings are samples of one kernel.

    Raises: as `read`.
    """
    table = _kept(gpu, "gemm", root or folder())
    own = table.filter(table["kernel"] == "cublas")
    return _rows(_tables().pooled(own, "torch"), "gemm")


def read_all(family: str = "gemm", root: Path | None = None) -> Iterator[Rows]:
    """The rows of one GPU after the other, so that only one is in memory.

    Raises: as `read`.
    """
    for gpu in gpus(family, root):
        yield read(gpu, family, root)


def audit(family: str = "gemm", root: Path | None = None) -> list[FileAudit]:
    """What was kept and dropped of every file of the family, of every device in the package.

    Raises: as `read`.
    """
    root = root or folder()
    found = _spec(family)
    return [_audit(path, family, root) for gpu in sorted(root.iterdir()) for path in _paths(gpu, found)]


def _audit(path: Path, family: str, root: Path) -> FileAudit:
    inner, table = path.relative_to(root), _load(path, family, root)
    found: FileAudit = _frames().audit(table, family, inner.as_posix(), inner.parts[0])
    return found


def _rows(table: pl.DataFrame, family: str) -> Rows:
    rows: Rows = _frames().rows(table, family)
    return rows


def _paths(folder: Path, spec: dict[str, Any]) -> list[Path]:
    """The files of a family below the folder of one GPU."""
    return sorted(path for table in spec["tables"] for path in folder.glob(table["files"]))


def _kept(gpu: str, family: str, root: Path) -> pl.DataFrame:
    if gpu not in gpus(family, root):
        raise UnknownNameError.among(f"measured {family} table", gpu, gpus(family, root))
    tables = [_load(path, family, root) for path in _paths(root / gpu, _spec(family))]
    kept: pl.DataFrame = _frames().kept(tables)
    return kept


def _load(path: Path, family: str, root: Path) -> pl.DataFrame:
    inner = path.relative_to(root)
    label = {"gpu": inner.parts[0], "family": family, "source": inner.as_posix()}
    table: pl.DataFrame = _tables().load(path, label, _rules())
    return table


def _tables() -> Any:
    return _needing_polars("tables")


def _frames() -> Any:
    return _needing_polars("frames")


def _needing_polars(module: str) -> Any:
    """A module that needs polars, imported on first use: it is optional, and takes a tenth of a second."""
    try:
        return import_module(f".{module}", __package__)
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of(_WHAT, "data") from missing


@cache
def _rules() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _spec(family: str) -> dict[str, Any]:
    """The rules of one family: those tables of the file that say which files to read."""
    families = {name: table for name, table in _rules().items() if isinstance(table, dict) and "tables" in table}
    if family not in families:
        known = UnknownNameError.among("measured family", family, families)
        raise UnknownNameError(f"{known}; of others right would be rows of your own: --rows FILE")
    return families[family]
