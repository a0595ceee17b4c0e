"""Train the weights of a family on measured rows. Needs the extra [train].

The rows are those of aiconfigurator-core, and of the files that --rows names. Test rows of the published split, and
rows that were chosen by their error, are left out. The state of every network is kept beside the output until all is
done: Ctrl-C loses at most one epoch, and --resume goes on.
"""

from __future__ import annotations

import shlex
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ... import hardware
from ...errors import FieldError, MissingExtraError
from ...kernels import family as family_named
from ...kernels.base import dtype_of
from ...measurements import Rows, aiconfigurator, read_files
from ..bars import stages
from ..show import notice


def train(
    family: Annotated[str, typer.Argument(metavar="FAMILY", help="a family from `synperf kernels`")] = "gemm",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="the weights; their card is beside them")] = None,
    rows: Annotated[list[Path] | None, typer.Option(metavar="FILE", help="more measured rows; may be repeated")] = None,
    gpu: Annotated[list[str] | None, typer.Option(metavar="NAME", help="only this GPU; may be repeated")] = None,
    dtype: Annotated[list[str] | None, typer.Option(metavar="NAME", help="only this format; may be repeated")] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="of the first weights and the order of rows")] = 42,
    resume: Annotated[bool, typer.Option("--resume", help="go on from the state of an interrupted run")] = False,
) -> None:
    name = family_named(family).name
    if out is None:
        raise FieldError(f"out: none given; right would be --out {name}.safetensors")
    if out.suffix != ".safetensors":
        raise FieldError(f"out: {out.name} should end in .safetensors")
    if not out.parent.is_dir():
        raise FieldError(f"out: no folder {str(out.parent)!r}; make it first")
    dtypes = [str(dtype_of("dtype", one)) for one in dtype or ()]
    shipped = _shipped()
    measured = _rows(name, rows or [], gpu, dtypes)
    devices = {key: hardware.gpu(key) for key in sorted(set(measured.gpu))}
    work = out.with_name(f"{out.name}.states")
    work.mkdir(exist_ok=True)
    with stages() as told:
        training = shipped.Training(seed=seed, work=work, resume=resume, progress=told)
        made = shipped.train(measured, devices, training, _command(name, rows, gpu, dtype, seed))
    paths = shipped.write(out, made)
    for state in work.glob("*.state"):
        state.unlink()
    work.rmdir()
    for path in paths:
        notice(f"{path}: {path.stat().st_size / 1e3:.0f} kB, trained in {made[name][0].training_s:.0f} s")


def _shipped() -> Any:
    """The module that needs torch."""
    try:
        return import_module("synperf.training.learned.shipped")
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of("training", "train") from missing


def _rows(family: str, files: list[Path], gpus: list[str] | None, dtypes: list[str] | None) -> Rows:
    own = [read_files(files, family)] if files else []  # first: a wrong file is told at once
    found = Rows.join([*aiconfigurator.read_all(family), *own])
    if gpus:
        keys = {hardware.gpu(name).key for name in gpus}
        found = found.take(_among(found.gpu, keys))
    if dtypes:
        found = found.take(_among(found.fields["dtype"], set(dtypes)))
    if not len(found):
        raise FieldError("rows: none are left of these GPUs and formats")
    return found


def _among(column: Any, values: set[str]) -> Any:

    return np.isin(column.astype(str), sorted(values))


def _command(family: str, rows: list[Path] | None, gpus: list[str] | None, dtypes: list[str] | None, seed: int) -> str:
    """The command that makes the weights again, files by their names alone."""
    words = ["synperf", "train", family, "--seed", str(seed)]
    for option, values in (("--rows", [r.name for r in rows or []]), ("--gpu", gpus or []), ("--dtype", dtypes or [])):
        words += [word for value in values for word in (option, value)]
    return shlex.join([*words, "--out", f"{family}.safetensors"])
