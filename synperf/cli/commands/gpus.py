"""List every known GPU: peaks, memory, caches, power."""

from __future__ import annotations

from typing import Annotated

import typer

from ... import hardware
from ...errors import FieldError, UnknownNameError
from ...hardware import DType
from ...kernels.fields import dtype_of
from ...report import gpus as report
from ...units import parse_quantity
from ..arguments import AsJson
from ..show import show

_LEAST_BYTES = 1e6  # no GPU has less: a number without its unit is meant in GB


def gpus(
    architecture: Annotated[
        str | None, typer.Option(metavar="NAME", help="only this architecture, e.g. hopper")
    ] = None,
    dtype: Annotated[
        str | None, typer.Option(metavar="NAME", help="only GPUs that multiply this format, e.g. fp8")
    ] = None,
    min_dram: Annotated[
        str | None, typer.Option(metavar="SIZE", help="only this much memory or more, e.g. 80GB")
    ] = None,
    as_json: AsJson = False,
) -> None:
    found = hardware.gpus()
    if architecture is not None:
        known = {gpu.architecture for gpu in found}
        if architecture.lower() not in known:
            raise FieldError(f"architecture: {UnknownNameError.among('architecture', architecture, known)}")
        found = [gpu for gpu in found if gpu.architecture == architecture.lower()]
    if dtype is not None:
        wanted: DType = dtype_of("dtype", dtype)
        found = [gpu for gpu in found if wanted in gpu.dtypes()]
    if min_dram is not None:
        least = _bytes("min-dram", min_dram)
        found = [gpu for gpu in found if gpu.dram_bytes >= least]
    show(as_json, lambda: [report.to_dict(gpu) for gpu in found], lambda: report.list_text(found))


def _bytes(name: str, value: str) -> float:
    try:
        found = parse_quantity(value, "B")
    except FieldError as error:
        raise FieldError(f"{name}: {error}") from error
    if found < _LEAST_BYTES:
        raise FieldError(f"{name}: {value.strip()[:40]!r} is less than 1 MB; right would be 80GB")
    return found
