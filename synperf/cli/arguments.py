"""Arguments that several commands share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import api, hardware
from ..errors import FieldError, PerfError, named
from ..hardware import GPU
from ..kernels.fields import dtype_of
from ..kernels.gemm_profile import TileProfile
from .output_options import AsJson as AsJson

FAMILY = "a family from `synperf kernels`, e.g. gemm, or a .py file"
Family = Annotated[str | None, typer.Argument(metavar="FAMILY", help=FAMILY)]
Fields = Annotated[
    list[str] | None,
    typer.Argument(metavar="[KEY=VALUE]...", help="its fields, e.g. m=4096 n=4096 k=4096 dtype=bf16"),
]
GpuName = Annotated[
    str | None, typer.Option("--gpu", metavar="NAME", help="a name from `synperf gpus`, or a TOML file")
]
OnlyGpu = Annotated[
    list[str] | None,
    typer.Option("--gpu", metavar="NAME", help="only this GPU, which is that of rows that name none; may be repeated"),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="FIELD=VALUE", help="change the GPU: dram_bytes_per_s=2x, num_sms=160, dram_bytes=192GB"
    ),
]
Origin = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="one estimator: learned; analytical; measured, or learned or analytical where tables do not reach",
    ),
]
Tiles = Annotated[
    Path | None,
    typer.Option("--tile-profile", metavar="FILE", help="CSV of recorded launches, whose tiles stand for near shapes"),
]
Calibration = Annotated[
    Path | None, typer.Option("--calibration", metavar="FILE", help="what `synperf calibrate` wrote for this GPU")
]
Weights = Annotated[
    Path | None,
    typer.Option("--weights", metavar="FILE", help="what `synperf train` wrote, in the place of the shipped weights"),
]
ModelName = Annotated[str, typer.Argument(metavar="MODEL", help="a name of the catalog, a config.json, or its folder")]
WeightsFormat = Annotated[
    str | None, typer.Option("--dtype", metavar="NAME", help="of weights; else that of the checkpoint")
]
CacheFormat = Annotated[str | None, typer.Option("--kv-dtype", metavar="NAME", help="of the cache, e.g. fp8")]
Tp = Annotated[int, typer.Option("--tp", metavar="N", help="GPUs that share every layer")]
Pp = Annotated[int, typer.Option("--pp", metavar="N", help="stages that share the layers")]
Ep = Annotated[int, typer.Option("--ep", metavar="N", help="groups of GPUs that hold other experts")]
Dp = Annotated[int, typer.Option("--dp", metavar="N", help="groups of --tp GPUs that share the requests")]


def formats(dtype: str | None, kv_dtype: str | None) -> dict[str, Any]:
    """The formats of a plan, by the name of its field.

    Raises:
        FieldError: no format has that name.
    """
    return {
        field: None if name is None else dtype_of(option, name)
        for field, option, name in (("dtype", "dtype", dtype), ("kv_dtype", "kv-dtype", kv_dtype))
    }


def device(name: str | None, changes: Iterable[str] | None) -> GPU:
    """The GPU of that name or file, with the changes applied.

    Raises:
        FieldError: no name; a change that is none.
        UnknownNameError: no such GPU.
    """
    if name is None:
        raise FieldError("gpu: none given; right would be --gpu NAME, a name from `synperf gpus`, or a TOML file")
    found = one_gpu("gpu", name)
    with changing():
        return hardware.what_if(found, distinct(changes))


def one_gpu(option: str, name: str) -> GPU:
    """The GPU that an option names.

    Raises:
        PerfError: there is none, or its file is not what it should be.
    """
    with named(option):
        return hardware.gpu(name)


@contextmanager
def changing() -> Iterator[None]:
    """Puts the option in the place of the function's name, where a change of a GPU is none."""
    try:
        yield
    except PerfError as error:
        raise type(error)(str(error).replace("what_if: ", "--set: ", 1)) from error


def distinct(changes: Iterable[str] | None) -> list[str]:
    """The changes of a GPU.

    Raises:
        FieldError: two are of one field.
    """
    values: dict[str, str] = {}
    for change in changes or ():
        field = change.partition("=")[0].strip()
        if field in values:
            raise FieldError(f"--set: {field} is given twice, as {values[field]!r} and as {change!r}")
        values[field] = change
    return list(values.values())


def tiles_of(path: Path | None) -> TileProfile | None:
    """The recorded launches of a file, if one is given."""
    with named("tile-profile"):
        return None if path is None else api.tile_profile(path)


def call(name: str | None, fields: Iterable[str] | None) -> Any:
    """The call that FAMILY and KEY=VALUE describe.

    Raises:
        UnknownNameError: no such family.
        FieldError: a field is unknown, missing, given twice, or not what the family takes.
    """
    if name is None:
        raise FieldError("family: none given; right would be a name from `synperf kernels`, such as gemm")
    if "=" in name:
        raise FieldError(f"family: {name!r} is KEY=VALUE; the family comes before it, such as gemm")
    return api.parse_call(name, _values(fields or ()))


def _values(fields: Iterable[str]) -> dict[str, str]:
    """KEY=VALUE as text by key; a list such as 1,2,3 stays text, which fields that are lists take apart."""
    values: dict[str, str] = {}
    for given in fields:
        key, equals, value = given.partition("=")
        key = key.strip()
        if not equals or not key or not value.strip():
            raise FieldError(f"{given!r} is not KEY=VALUE, such as m=4096")
        if key in values:
            raise FieldError(f"{key} is given twice, as {values[key]} and as {value}")
        values[key] = value
    return values
