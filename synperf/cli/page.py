"""Writes docs/cli.md from the commands themselves, so that no option there is typed by hand.

python -m synperf.cli.page [FILE]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from inspect import getdoc
from pathlib import Path
from typing import Any

from .app import names
from .parsed import command, function

_HEAD = """\
# Commands

Written by `python -m synperf.cli.page` from the commands themselves; do not edit.

| exit code | meaning |
|---|---|
| 0 | the answer is on standard output, or in the file that was asked for |
| 1 | a check failed |
| 2 | bad input: one line on standard error says which field, what it was and what would be right; nothing is written |
| 70 | a bug in synperf: one line, please report it |
| 129, 130, 143 | ended by SIGHUP, Ctrl-C or SIGTERM; no part of a file is left |
| 141 | the reader of the pipe has gone |

`--json` prints one JSON document on standard output and nothing else there: SI units, the unit in the key, no NaN.
Text is for people and may change; JSON keys are stable.
"""


def page() -> str:
    """The page: every command with its help and its parameters."""
    return "\n".join([_HEAD, *(part for name in names() for part in section(name))])


def section(name: str) -> Iterator[str]:
    """One command."""
    yield f"## synperf {name}\n"
    yield f"{getdoc(function(name))}\n"
    yield "| argument or option | meaning | default |\n|---|---|---|"
    yield from (row(parameter) for parameter in command(name).params if parameter.name != "help")
    yield ""


def row(parameter: Any) -> str:
    """One parameter, as typer has it."""
    is_argument, is_flag = parameter.param_type_name == "argument", getattr(parameter, "is_flag", False)
    shown = parameter.metavar if is_argument else parameter.opts[0]
    value = "" if is_argument or is_flag else f" {parameter.metavar}"
    default = "required" if parameter.required else f"`{parameter.default}`" if parameter.default else ""
    return f"| `{shown}{value}` | {parameter.help} | {default} |"


def main() -> None:
    """Writes the page."""
    named = [a for a in sys.argv[1:] if not a.startswith("-")]
    path = Path(named[0] if named else "docs/cli.md")
    path.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
