"""Options that say how a result is shown; commands that predict nothing need no others."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="one JSON document on standard output")]
Svg = Annotated[str | None, typer.Option(metavar="FILE", help="draw it")]
