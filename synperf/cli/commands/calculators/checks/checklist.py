"""Go through a check list of 24 items and 16 traps with what you know of a workload.

For example: synperf checklist --set block_size=100 --set message_bytes=4096 --set ranks=8 --set algorithm=ring
--set transposes=3
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .....calculators.checklist import checklist as calculate
from .....calculators.checklist import fields as known
from .....calculators.checklist import flat, read_description, template
from .....errors import FieldError, UnknownNameError, named
from .....report.calculators import checklist as report
from ....calculated import show_drawn
from ....output_options import AsJson, Svg

NOT_WITH = {"with_template": ("description", "fields", "svg", "as_json")}


def checklist(
    description: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="a description in TOML; --template prints an empty one")
    ] = None,
    fields: Annotated[
        list[str] | None, typer.Option("--set", metavar="FIELD=VALUE", help="one field; may be repeated")
    ] = None,
    with_template: Annotated[bool, typer.Option("--template", help="print every field, to be filled in")] = False,
    svg: Svg = None,
    as_json: AsJson = False,
) -> None:
    if with_template:
        print(template())
        return
    if description is None and not fields:
        raise FieldError(
            "description: none given; right would be a TOML file, or --set FIELD=VALUE; --template prints one"
        )
    show_drawn(calculate(_described(description, fields or ())), report, as_json, svg)


def _described(description: Path | None, fields: Sequence[str]) -> dict[str, Any]:
    """What the file says, and in its place what the options say."""
    with named("description"):
        found = {} if description is None else flat(read_description(description))
    return found | dict(map(_field, fields))


def _field(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    if not name.strip() or not value.strip():
        raise FieldError(f"set: {text[:40]!r} is not FIELD=VALUE; right would be block_size=128")
    if name.strip() not in known():
        raise UnknownNameError(f"set: {UnknownNameError.among('field', name.strip(), known())}")
    return name.strip(), _value(value.strip())


def _value(text: str) -> Any:
    """As TOML has it; what is no value there is a name."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text
