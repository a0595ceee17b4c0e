"""From the arguments of the process to one command, and from any error to one line and an exit code."""

from __future__ import annotations

import ast
import gc
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from typing import Any

import typer

from ..errors import FieldError, PerfError, UnknownNameError
from ..version import VERSION
from . import streams
from .stop import install, word

MISUSE, BUG, BROKEN_PIPE = 2, 70, 141  # 70 is EX_SOFTWARE, 141 is 128 + SIGPIPE
_FOLDER = Path(__file__).parent / "commands"


def main() -> None:
    """Runs the arguments of the process and exits."""
    gc.set_threshold(100_000, 20, 50)  # tables make many rows and no cycles: looking for some takes a quarter more time
    streams.reserve()
    install()
    code = run(sys.argv[1:])
    streams.close()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Runs one command and returns the exit code: 0, 1 for a check that failed, 2 for bad input, 128 + a signal.

    An error is one line on standard error, and nothing is on standard output then.
    """
    try:
        code = _dispatch(list(arguments))
        if sys.stdout is not None:  # it is where the caller closed it
            sys.stdout.flush()
        return code
    except (KeyboardInterrupt, typer.Abort) as error:
        number = getattr(error, "number", signal.SIGINT)
        return _fail(word(number), 128 + number)
    except BrokenPipeError:
        _close_stdout()
        return BROKEN_PIPE
    except PerfError as error:
        return _fail(str(error), MISUSE)
    except OSError as error:
        return _fail(f"{error.filename or 'standard output'}: {error.strerror or error}", MISUSE)
    except Exception as error:
        if hasattr(error, "format_message"):  # typer's, or the click package's that it is built on
            return _fail(_usage(error), MISUSE)
        return _fail(_bug(error), BUG)


def _dispatch(arguments: list[str]) -> int:
    name = arguments[0] if arguments else "--help"
    if name in ("--help", "-h"):
        print(overview())
        return 0
    if name == "--version":
        print(f"synperf {VERSION}")
        return 0
    if name not in names():
        raise UnknownNameError.among("command", name, names())
    called = command(name)
    try:
        with called.make_context(f"synperf {name}", arguments[1:]) as context:
            _check_once(called, context, arguments[1:])
            code = called.invoke(context)
    except typer.Exit as done:  # --help
        return done.exit_code
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


def names() -> tuple[str, ...]:
    """Every command, by its file in `commands/`; `_` in the file's name is `-` in the command's."""
    return tuple(sorted(path.stem.replace("_", "-") for path in _FOLDER.glob("[!_]*.py")))


def summary(name: str) -> str:
    """The first sentence of a command's docstring, read without importing it."""
    source = (_FOLDER / f"{name.replace('-', '_')}.py").read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(source)) or ""
    return docstring.partition("\n")[0]


def overview() -> str:
    """What `synperf --help` prints."""
    width = max(map(len, names()))
    listed = "\n".join(f"  {name.ljust(width)}  {summary(name)}" for name in names())
    return (
        "Usage: synperf COMMAND [ARGUMENTS]\n\nHow long GPU work takes and why.\n\n"
        f"Commands:\n{listed}\n\nOptions:\n  --version  the version\n  --help     this text\n\n"
        "synperf COMMAND --help tells the arguments of one."
    )


def function(name: str) -> Any:
    """The function of a command: it has the name of its module, whose docstring is the help."""
    stem = name.replace("-", "_")
    module = import_module(f"{__package__}.commands.{stem}")
    found = getattr(module, stem)
    found.__doc__ = found.__doc__ or module.__doc__
    return found


def command(name: str) -> Any:
    """A command of typer, without colours, boxes and completion."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(name)(function(name))
    return typer.main.get_command(app)


def _usage(error: Any) -> str:
    """An error of typer as a clause: `missing option '--gpu'; see synperf predict --help`."""
    message = str(error.format_message()).strip().rstrip(".")
    context = getattr(error, "ctx", None)
    hint = f"; see {context.command_path} --help" if context is not None else ""
    return f"{message[:1].lower()}{message[1:]}{hint}"


def _bug(error: Exception) -> str:
    frames = extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}"
    return f"a bug, please report it with the command: {type(error).__name__} at {place}: {error}"


def _fail(message: str, code: int) -> int:
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in " ".join(message.split()))
    with suppress(OSError):  # the terminal has gone
        print(f"synperf: {line}", file=sys.stderr)
    return code


def _close_stdout() -> None:
    """Points standard output at nothing, so that Python's own flush at the end does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
