"""Measured rows in a file, whatever its format: told by what is in it, not by its name."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import hardware
from ..errors import FileFormatError, MissingExtraError
from ..hardware import GPU
from ..kernels import family as kernel_family
from ..kernels import name_of
from .audit import FileAudit, Reading
from .plausible import check
from .schema import Rows, numbers_of

GEMM = "gemm"  # the family of rows that name none
PUBLISHED = ("pipeweave", "neusight", "vidur")  # modules of formats, the first that matches is taken
_PARQUET = b"PAR1"
_BATCH_ROWS = 100_000
_ALL_ROWS = 2**31


def read_file(
    path: str | Path,
    family: str = GEMM,
    *,
    gpu: GPU | str | Path | None = None,
    engine: str | None = None,
    kernel: str | None = None,
) -> Rows:
    """The measured rows of a family in one file: of a published data set, or a user's own table.

    `gpu`, `engine` and `kernel` are those of rows that name none; what is still missing is what `predict` would take.

    Raises:
        FileFormatError: the file is not what it should be; the message names file, row and column.
        UnknownNameError: no such GPU, or the family has no measured rows.
        PluginError: `family` is the path of a file, which is not what it should be.
        FieldError: no such engine or kernel.
        MissingExtraError: a parquet file, and the extra [data] is not installed.
    """
    found = _reading(Path(path), family, _given(gpu, engine, kernel))
    if found.rows is None:
        raise FileFormatError(f"{Path(path).name}: no row can be used: {_reasons(found.audits) or 'there are none'}")
    return found.rows


def family_in(path: str | Path) -> str:
    """The family that the first row of a file names in its column `family`; gemm where it names none.

    Raises:
        FileFormatError: the file is not a table.
        MissingExtraError: a parquet file, and the extra [data] is not installed.
    """
    batches, _ = _opened(Path(path), GEMM)
    first = next(batches, None)
    cells = [] if first is None else first.columns.get("family", [])
    return str(cells[0] or GEMM).strip() if len(cells) else GEMM


def read_files(
    paths: Iterable[str | Path],
    family: str = GEMM,
    *,
    gpu: GPU | str | Path | None = None,
    engine: str | None = None,
    kernel: str | None = None,
) -> Rows:
    """The rows of several files, one after the other.

    Raises: as `read_file`; and FieldError where no file is named.
    """
    return Rows.join([read_file(path, family, gpu=gpu, engine=engine, kernel=kernel) for path in paths])


def audit_file(
    path: str | Path,
    family: str = GEMM,
    *,
    gpu: GPU | str | Path | None = None,
    engine: str | None = None,
    kernel: str | None = None,
) -> tuple[FileAudit, ...]:
    """What was kept and dropped of one file, for each GPU in it, and which columns of a user's file were not read.

    Raises: as `read_file`.
    """
    return _reading(Path(path), family, _given(gpu, engine, kernel)).audits


def _reasons(audits: Iterable[FileAudit]) -> str:
    """Why rows were dropped, with their number: `1,040 the GPU is not in the catalog yet`."""
    total: Counter[str] = Counter()
    for audit in audits:
        total.update(audit.dropped)
    return "; ".join(f"{rows:,} {reason}" for reason, rows in total.most_common())


def _given(gpu: GPU | str | Path | None, engine: str | None, kernel: str | None) -> Any:
    found = gpu if isinstance(gpu, GPU) or gpu is None else hardware.gpu(gpu)
    return _module(".user").Given(gpu=found, engine=engine, kernel=kernel)


def _reading(path: Path, family: str, given: Any) -> Reading:
    family = name_of(family)
    numbers_of(family)  # it has measured rows
    batches, layout = _opened(path, family)
    if layout is not None:
        found: Reading = _module(".published").read(layout, next(batches).rows, family, path.name)
    else:
        found = _module(".user").read(batches, kernel_family(family), path.name, given)
    if found.rows is not None:
        check(found.rows, found.devices, f"{path.name}: {found.times}", found.unit)
    return found


def _opened(path: Path, family: str) -> tuple[Iterator[Any], Any]:
    """(batches, layout) of a file; without a layout, it is a user's."""
    head = _head(path)
    if head.startswith(_PARQUET) or path.suffix.lower() == ".parquet":
        whole = next(_module("..tables.frames").read(path, path.name, _ALL_ROWS))
        matching = _layouts(whole.rows)
        layout = next((one for one in matching if family in one.families), None)
        if matching and layout is None and "family" not in whole.columns:
            known = sorted({name for one in matching for name in one.families})
            right = f"right would be {_any_of(known)}"
            raise FileFormatError(f"{path.name}: no {family} is read from such a table; {right}")
        return iter([whole]), layout
    is_json = head.removeprefix(BOM_UTF8).lstrip()[:1] in (b"{", b"[")
    reader = _module("..tables.json_lines" if is_json else "..tables.csv_text")
    return reader.read(path, path.name, _BATCH_ROWS), None


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise FileFormatError(f"{path}: {error.strerror or error}") from None
    if not head.strip():
        raise FileFormatError(
            f"{path.name} is empty; right would be a table with a header, such as m,n,k,dtype,time_us"
        )
    return head


def _layouts(frame: Any) -> list[Any]:
    """Layouts of published tables that a file has, in the order in which they are tried."""
    layouts = [layout for name in PUBLISHED for layout in _module(f".{name}").FORMATS]
    return [layout for layout in layouts if layout.matches(frame)]


def _any_of(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _module(name: str) -> Any:
    """A module of this folder, imported on first use: it needs polars, or the readers of tables, which stand above.

    Raises:
        MissingExtraError: it needs polars, which is not installed.
    """
    try:
        return import_module(name, __package__)
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of("reading parquet", "data") from missing
