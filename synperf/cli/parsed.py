"""A command whose options are parsed by typer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import typer

from ..errors import FieldError, PerfError
from . import pairs
from .app import module

_RIGHT = {
    "integer": "is not a whole number; right would be one such as 4",
    "int": "is not a whole number; right would be one such as 4",
    "float": "is not a number; right would be one such as 0.5",
}
_WRONG = re.compile(r"is not a valid (integer|int|float)(?: range)?$")


class UsageError(PerfError):
    """The arguments are not those of the command."""


def call(name: str, arguments: Sequence[str]) -> int:
    """Runs a command and returns its exit code.

    Raises:
        PerfError: the arguments are wrong, or the command says so.
        KeyboardInterrupt: a question of the command was not answered.
    """
    called = command(name)
    try:
        with called.make_context(f"synperf {name}", list(arguments)) as context:
            _check_once(called, context, list(arguments))
            pairs.check(called, context, _home(name))
            code = called.invoke(context)
    except typer.Exit as done:  # --help
        return done.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    except Exception as error:
        if hasattr(error, "format_message"):  # typer's, or the click package's that it is built on
            raise UsageError(_usage(error)) from None
        raise
    return code if isinstance(code, int) else 0


def _check_once(called: Any, context: Any, arguments: list[str]) -> None:
    """Checks that no option is given twice that has one value: the last would win in silence.

    Raises:
        FieldError: one is.
    """
    *_, order = called.make_parser(context).parse_args(arguments)
    for parameter in order:
        single = parameter.param_type_name == "option" and not parameter.multiple and not parameter.is_flag
        if single and order.count(parameter) > 1:
            raise FieldError(f"{parameter.opts[0].lstrip('-')} is given twice; right would be {parameter.opts[0]} once")


def _home(name: str) -> Any:
    return import_module(f"{__package__}.commands.{module(name)}")


def function(name: str) -> Any:
    """The function of a command: it has the name of its module, whose docstring is the help."""
    home = _home(name)
    found = getattr(home, name.replace("-", "_"))
    found.__doc__ = found.__doc__ or home.__doc__
    return found


def command(name: str) -> Any:
    """A command of typer, without colours, boxes and completion."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(name)(function(name))
    return typer.main.get_command(app)


def _usage(error: Any) -> str:
    """An error of typer as a clause: `missing option '--gpu'; see synperf predict --help`."""
    message = _WRONG.sub(lambda found: _RIGHT[found[1]], str(error.format_message()).strip().rstrip("."))
    context = getattr(error, "ctx", None)
    hint = f"; see {context.command_path} --help" if context is not None else ""
    return f"{message[:1].lower()}{message[1:]}{hint}"
