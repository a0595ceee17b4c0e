"""Train the weights of a family on measured rows. Needs the extra [train].

The rows are those of aiconfigurator-core, and of the files that --rows names; with --only-rows, of these files alone,
and measured tables, which keep standing on the shipped weights, get none beside --out.
Rows that name no GPU are of the one that --gpu names. Test rows of the published split, and rows that were chosen by
their error, are left out. `predict` and `explain` take what is written with --weights FILE.

The state of every network is kept beside the output until all is done: Ctrl-C loses at most one epoch, and the same
command with --resume goes on.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ... import hardware
from ...errors import FieldError, MissingExtraError
from ...estimators.weights import KNOWN, NetworkCard
from ...kernels import family as family_named
from ...kernels import name_of
from ...kernels.fields import dtype_of
from ...measurements import Rows, aiconfigurator
from ...tables.outfile import require_place
from ...units import format_percent
from ..arguments import FAMILY, OnlyGpu, one_gpu
from ..bars import stages
from ..rows import read_rows
from ..show import notice


def train(
    family: Annotated[str, typer.Argument(metavar="FAMILY", help=FAMILY)] = "gemm",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="the weights; their card is beside them")] = None,
    rows: Annotated[list[Path] | None, typer.Option(metavar="FILE", help="more measured rows; may be repeated")] = None,
    only_rows: Annotated[bool, typer.Option("--only-rows", help="without the rows of aiconfigurator-core")] = False,
    gpu: OnlyGpu = None,
    dtype: Annotated[list[str] | None, typer.Option(metavar="NAME", help="only this format; may be repeated")] = None,
    only_known: Annotated[
        bool, typer.Option("--only-known", help="without a network for GPUs that nobody measured")
    ] = False,
    most: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="random rows of every GPU, engine, kernel and format; all if left out"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="of the first weights and the order of rows")] = 42,
    resume: Annotated[bool, typer.Option("--resume", help="go on from the state of an interrupted run")] = False,
) -> None:
    kind = family_named(name_of(family))
    name, only_rows = kind.name, only_rows or kind.is_own
    if out is None:
        raise FieldError(f"out: none given; right would be --out {name}.safetensors")
    if out.suffix != ".safetensors":
        raise FieldError(f"out: {out.name} should end in .safetensors")
    if kind.is_own and not rows:
        raise FieldError(f"rows: none are named, and none of {name} are installed; right would be --rows FILE")
    if only_rows and not rows:
        raise FieldError("only_rows: no rows are named; right would be --rows FILE beside it")
    dtypes = [str(dtype_of("dtype", one)) for one in dtype or ()]
    for named in gpu or ():
        one_gpu("gpu", named)
    shipped = _shipped()
    for path in shipped.paths(out, shipped.names(name, tables=not only_rows)):
        require_place("out", path)
        require_place("out", path.with_suffix(".json"))
    measured = _rows(name, rows or [], gpu or [], dtypes, only_rows)
    if most is not None:
        measured = shipped.at_most(measured, most, seed)
    devices = hardware.of_keys(measured.gpu, gpu or ())
    with _states(out) as work, stages() as told:
        if resume and not any(work.glob("*.state")):
            notice(f"resume: no state is beside {out} to go on from; the training begins anew")
        training = shipped.Training(
            seed=seed, work=work, resume=resume, progress=told, tables=not only_rows, general=not only_known
        )
        command = _command(Path(family).name, name, rows, only_rows, only_known, gpu, dtype, most, seed)
        made = shipped.train(measured, devices, training, command)
        paths = shipped.write(out, made)
    for path in paths:
        notice(f"{path}: {path.stat().st_size / 1e3:.0f} kB, trained in {made[name][0].training_s:.0f} s")
    for network in made[name][0].networks:
        if network.scope == KNOWN:
            notice(_error(network))


def _error(network: NetworkCard) -> str:
    """What the card says of the rows that nothing was fitted to."""
    part, held = network.name.removesuffix(f".{KNOWN}"), network.held_out.get("all")
    said = f"{format_percent(held['mape'])} held-out error over {held['rows']:,.0f} rows" if held else "none held out"
    return f"{part}: {said}, {network.rows:,} fitted to"


@contextmanager
def _states(out: Path) -> Iterator[Path]:
    """The folder of the states of networks, which is gone when all is done; it stays where some were left."""
    folder = out.with_name(f"{out.name}.states")
    folder.mkdir(exist_ok=True)
    try:
        yield folder
        for state in folder.glob("*.state"):
            state.unlink()
    finally:
        with suppress(OSError):  # it holds states to go on from
            folder.rmdir()


def _shipped() -> Any:
    """The module that needs torch."""
    try:
        return import_module("synperf.training.learned.shipped")
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of("training", "train") from missing


def _rows(family: str, files: list[Path], gpus: list[str], dtypes: list[str], alone: bool) -> Rows:
    own = [read_rows(files, family, gpus)] if files else []  # first: a wrong file is told at once
    found = Rows.join(own if alone else [*aiconfigurator.read_all(family), *own])
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


def _command(
    given: str, family: str, rows: list[Path] | None, only_rows: bool, only_known: bool, gpus: list[str] | None,
    dtypes: list[str] | None, most: int | None, seed: int,
) -> str:  # fmt: skip
    """The command that makes the weights again, files by their names alone; the family as it was `given`."""
    words = ["synperf", "train", given, "--seed", str(seed)]
    for option, values in (("--rows", [r.name for r in rows or []]), ("--gpu", gpus or []), ("--dtype", dtypes or [])):
        words += [word for value in values for word in (option, value)]
    words += ["--most", str(most)] if most else []
    words += ["--only-rows"] * only_rows + ["--only-known"] * only_known
    return shlex.join([*words, "--out", f"{family}.safetensors"])
