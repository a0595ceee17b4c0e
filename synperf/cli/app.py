"""From the arguments of the process to one command, and from any error to one line and an exit code."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Never

from ..errors import FieldError, PerfError, UnknownNameError
from ..version import VERSION
from . import streams
from .stop import install, word

MISUSE, BUG, BROKEN_PIPE = 2, 70, 141  # 70 is EX_SOFTWARE, 141 is 128 + SIGPIPE
_LONGEST = 300  # letters of a word: longer ones are values that a caller gave
_FOLDER = Path(__file__).parent / "commands"
_OF_FOLDERS = ("analyze", "compare")  # they take folders, and an empty path is that of the process
_CALCULATORS = _FOLDER / "calculators"


def main() -> None:
    """Runs the arguments of the process and exits."""
    streams.reserve()
    install()
    code = run(sys.argv[1:])
    streams.close()
    _leave(code)


def run(arguments: Sequence[str]) -> int:
    """Runs one command and returns the exit code: 0, 1 for a check that failed, 2 for bad input, 128 + a signal.

    An error is one line on standard error, and nothing is on standard output then.
    """
    try:
        code = _dispatch(list(arguments))
        if sys.stdout is not None:  # it is where the caller closed it
            sys.stdout.flush()
        return code
    except KeyboardInterrupt as error:
        number = getattr(error, "number", signal.SIGINT)
        return _fail(word(number), 128 + number)
    except BrokenPipeError:
        _close_stdout()
        return BROKEN_PIPE
    except PerfError as error:
        return _fail(str(error), MISUSE)
    except OSError as error:
        return _fail(f"{error.filename or 'standard output'}: {error.strerror or error}", MISUSE)
    except MemoryError:
        return _fail("there is too little memory for this; right would be more of it, or less at once", MISUSE)
    except Exception as error:
        return _fail(_bug(error), BUG)


def _leave(code: int) -> Never:
    """Ends the process, but takes no modules down, one by one, which takes longer than many a command."""
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:  # Python waits for them
        sys.exit(code)
    atexit._run_exitfuncs()
    for stream in (sys.stderr, sys.__stdout__, sys.__stderr__):  # files of a user's own may have written to any
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()  # type: ignore[union-attr]  # there are none where the caller closed them
    os._exit(code)


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
    if "" in arguments and name in _OF_FOLDERS:
        raise FieldError(f"{_place_of_nothing(arguments)}: it is empty; right would be a name, a file or a value")
    alone = None if any(one.startswith("-") for one in arguments) else _of_files_alone(name)
    if alone is not None and arguments[1:]:
        alone(list(map(Path, arguments[1:])))
        return 0
    from .parsed import call  # the parser of options takes longer to import than many a command

    return call(name, arguments[1:])


def _place_of_nothing(arguments: list[str]) -> str:
    """The option whose value is empty, or which argument is."""
    place = arguments.index("")
    before = arguments[place - 1]
    return before.lstrip("-") if before.startswith("--") else f"argument {place}"


def _of_files_alone(name: str) -> Any:
    """What a command does that is given files and no option, if it is in `files_alone/`."""
    stem = name.replace("-", "_")
    if not (_FOLDER.with_name("files_alone") / f"{stem}.py").exists():
        return None
    return getattr(import_module(f"{__package__}.files_alone.{stem}"), stem)


def names() -> tuple[str, ...]:
    """Every command, by its file in `commands/`; `_` in the file's name is `-` in the command's."""
    return tuple(sorted((*_in(_FOLDER), *calculators())))


def calculators() -> tuple[str, ...]:
    """The commands that answer by a formula."""
    return tuple(sorted(name for group in groups().values() for name in group))


def groups() -> dict[str, tuple[str, ...]]:
    """The calculators by the kind of question that they answer, which is the folder that their files are in."""
    folders = sorted(path for path in _CALCULATORS.iterdir() if path.name[0].isalpha() and path.is_dir())
    return {folder.name: _in(folder) for folder in folders}


def module(name: str) -> str:
    """Where the function of a command is, as a path below `commands/` with dots."""
    stem = name.replace("-", "_")
    group = next((group for group, some in groups().items() if name in some), None)
    return stem if group is None else f"{_CALCULATORS.name}.{group}.{stem}"


def _in(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.stem.replace("_", "-") for path in folder.glob("[!_]*.py")))


def summary(name: str) -> str:
    """The first sentence of a command's docstring, read without importing it."""
    import ast  # only help needs it

    source = (_FOLDER / f"{module(name).replace('.', '/')}.py").read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(source)) or ""
    return docstring.partition("\n")[0]


def overview() -> str:
    """What `synperf --help` prints."""
    by_group = (f"Calculators, {group.replace('_', ' ')}:\n{_listed(some)}\n\n" for group, some in groups().items())
    return (
        "Usage: synperf COMMAND [ARGUMENTS]\n\nHow long GPU work takes and why.\n\n"
        f"Commands:\n{_listed(_in(_FOLDER))}\n\n{''.join(by_group)}"
        "Options:\n  --version  the version\n  --help     this text\n\n"
        "synperf COMMAND --help tells the arguments of one."
    )


def _listed(some: Iterable[str]) -> str:
    width = max(map(len, names()))
    return "\n".join(f"  {name.ljust(width)}  {summary(name)}" for name in some)


def _bug(error: Exception) -> str:
    from traceback import extract_tb

    frames = extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}"
    return f"a bug, please report it with the command: {type(error).__name__} at {place}: {error}"


def _fail(message: str, code: int) -> int:
    words = (word if len(word) <= _LONGEST else f"{word[: _LONGEST // 2]}...{word[-20:]}" for word in message.split())
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in " ".join(words))
    with suppress(OSError):  # the terminal has gone
        print(f"synperf: {line}", file=sys.stderr)
    return code


def _close_stdout() -> None:
    """Points standard output at nothing, so that Python's own flush at the end does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
