"""Time kernels on this machine, as rows for calibrate, train and evaluate. Needs the extra [collect].

A plan for ten minutes: synperf collect gemm softmax --minutes 10 --out rows.parquet

Shapes of your own: synperf collect gemm m=1,16,256 n=4096,14336 k=4096 --out rows.parquet

Calls of every family are spread over its fields and from short to long, as many as fit the minutes. Each is timed with
its data in L2 (warm) and after L2 was overwritten (cold), as two rows. What was measured is kept in a journal beside
--out: after Ctrl-C the same command, or --resume, goes on without repeating a row.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from ...collect.place import journal_of, require_begun, require_out
from ...collect.request import DEFAULT_FORMAT, Request, parse_device, parse_families
from ...collect.timed import STATES
from ...errors import FieldError, MissingExtraError
from ...report import collections
from ...report.jsonout import to_json
from ...units import counted
from ..arguments import AsJson
from ..bars import stages
from ..show import notice, show


def collect(
    families: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FAMILY [KEY=V1,V2]...]...", help="families, each with values for some of its fields"),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="where to write the rows, as .parquet")] = None,
    minutes: Annotated[float, typer.Option(metavar="NUMBER", help="about how long all may take")] = 10.0,
    device: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="cuda (ROCm too), cuda:1 or cpu; else that of the plan, or the first GPU"),
    ] = None,
    dtype: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="a format of the calls; may be repeated; else bf16, on a CPU fp32"),
    ] = None,
    l2: Annotated[
        list[str] | None, typer.Option("--l2", metavar="STATE", help="only warm, or only cold; else both")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="of the choice of calls")] = 0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="print the plan, and time nothing but a few calls")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="go on with the plan of --out; no family is needed")] = False,
    as_json: AsJson = False,
) -> None:
    if not families and (dry_run or not resume):
        beside = " beside --dry-run" if resume else ""
        raise FieldError(f"family: none given; right would be a family such as gemm{beside}")
    if out is None and not dry_run:
        raise FieldError("out: none given; right would be --out rows.parquet")
    if out is not None:
        require_out(out)
    if resume and out is not None:
        require_begun(out)
        device = _module("run").begun_on(out) if device is None else device
    kind, request = parse_device(device)[0], None
    if families:
        request = Request(
            families=parse_families(families), minutes=minutes, seed=seed, device=kind,
            dtypes=tuple(dict.fromkeys(dtype or (DEFAULT_FORMAT[kind],))), l2=tuple(dict.fromkeys(l2 or STATES)),
        )  # fmt: skip
    at = _module("device").device(device)
    if dry_run or out is None:
        plan = _module("plan").make_plan(request, at)
        show(as_json, lambda: collections.to_dict(plan), lambda: collections.to_text(plan))
        return
    _time(out, request, at, as_json)


def _time(out: Path, request: Request | None, at: Any, as_json: bool) -> None:
    """Times, and says what came of it, or what is kept where it is interrupted."""
    run = _module("run")
    try:
        with stages() as told:
            done = run.collect(out, request, at, told)
    except KeyboardInterrupt:
        if journal_of(out).exists():
            notice(f"{journal_of(out)}: what was measured is kept; the same command goes on")
        raise
    if as_json:
        print(to_json({"rows": done.rows, "device": at.name, "left_out": done.left_out()}))
    for line in collections.left_out(done.left_out()):
        notice(f"left out: {line}")
    notice(f"{out}: {counted(done.rows, 'row')} of {at.name}")


def _module(name: str) -> Any:
    """A module that needs torch, or polars."""
    try:
        return import_module(f"synperf.collect.{name}")
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of("collecting", "collect") from missing
