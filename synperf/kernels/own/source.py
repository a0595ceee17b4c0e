"""The Python file of a family: what it defines and on which line, and its functions, run so that any failure is told.

Source text is run once. What it prints goes to standard error: standard output is for answers. NumPy does not warn of
what it divides by zero there: what comes of it is checked.
"""

from __future__ import annotations

import ast
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from traceback import walk_tb
from types import CoroutineType, ModuleType
from typing import Any

import numpy as np

from ...errors import PerfError, PluginError

RIGHT = "right would be a Python file with decompose(params, gpu) and scheduling_policy()"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Source:
    """A file that was run. `lines` are those of its names; a function that returns once has that of its `return`."""

    path: str
    name: str  # of the file, without its folder
    module: ModuleType
    tree: ast.Module
    digest: str  # the first digits of that of the text
    lines: Mapping[str, int]

    def get(self, name: str, default: Any = None) -> Any:
        """What the file calls so."""
        return getattr(self.module, name, default)

    def function(self, name: str) -> Callable[..., Any] | None:
        """A function of the file; None where there is none.

        Raises:
            PluginError: the name is something else.
        """
        found = self.get(name)
        if found is not None and not callable(found):
            raise self.wrong(name, f"{name} is {shown(found)}; right would be a function")
        return found  # type: ignore[no-any-return]

    def run(self, name: str, *arguments: Any) -> Any:
        """What a function of the file gives.

        Raises:
            PluginError: it raises; the message has the line.
        """
        function, kept = self.get(name), sys.stdout
        sys.stdout = sys.stderr  # as `telling` does, without what a context costs: it is done for every call of a table
        try:
            found = function(*arguments)
        except BaseException as error:
            if _is_of_user(error):
                raise
            raise _told(error, self.path, self.lines.get(name, 1)) from error
        finally:
            sys.stdout = kept
        if isinstance(found, CoroutineType):
            found.close()  # else Python warns that nobody awaited it
            raise self.wrong(name, f"{name} is async; right would be a plain def")
        return found

    def wrong(self, name: str, what: str) -> PluginError:
        """The refusal of what the file has under a name."""
        return PluginError(f"{self.path}:{self.lines.get(name, 1)}: {what}")


def text(path: Path) -> bytes:
    """What a file holds.

    Raises:
        PluginError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise PluginError(f"{path}: {getattr(error, 'strerror', None) or error}; {RIGHT}") from None


def digest(data: bytes) -> str:
    """What tells a file from what it was before."""
    return sha256(data).hexdigest()[:12]


def run(path: Path, data: bytes) -> Source:
    """The file at a path, run.

    Raises:
        PluginError: it is no Python, or it raises; the message has the file and the line.
    """
    tree = _parsed(data, str(path))
    module = ModuleType(f"synperf_own_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # where a dataclass of the file looks for it
    with telling(str(path), 1):
        exec(compile(tree, str(path), "exec"), module.__dict__)
    return _source(str(path), module, tree, data)


def of_module(module: ModuleType) -> Source:
    """A module that is imported already.

    Raises:
        PluginError: it has no file of Python.
    """
    path = Path(getattr(module, "__file__", None) or module.__name__)
    data = text(path)
    return _source(str(path), module, _parsed(data, str(path)), data)


def _source(path: str, module: ModuleType, tree: ast.Module, data: bytes) -> Source:
    return Source(
        path=path, name=Path(path).name, module=module, tree=tree, digest=digest(data), lines=dict(_lines(tree))
    )


def _parsed(data: bytes, path: str) -> ast.Module:
    try:
        return ast.parse(data, path)
    except SyntaxError as error:
        raise PluginError(f"{path}:{error.lineno or 1}: not Python ({error.msg}); {RIGHT}") from None
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes; brackets without end
        raise PluginError(f"{path}:1: not Python ({error}); {RIGHT}") from None


def _lines(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """(name, line) of functions and constants at the top of a file."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            returns = [inner.lineno for inner in ast.walk(node) if isinstance(inner, ast.Return)]
            yield node.name, returns[0] if len(returns) == 1 else node.lineno
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    yield target.id, node.lineno


@contextmanager
def telling(path: str, line: int) -> Iterator[None]:
    """Turns whatever a file raises into one sentence with its line, else with `line`.

    Raises:
        PluginError: something was raised.
    """
    try:
        with redirect_stdout(sys.stderr), np.errstate(all="ignore"):
            yield
    except BaseException as error:
        if _is_of_user(error):
            raise
        raise _told(error, path, line) from error


def _is_of_user(error: BaseException) -> bool:
    """Whether the process is to end: a signal came, and no file raised it by itself.

    Where Ctrl-C is answered by an exception of another kind, as on the command line, a plain one is the file's.
    """
    if type(error) is KeyboardInterrupt:
        return signal.getsignal(signal.SIGINT) is signal.default_int_handler
    return isinstance(error, KeyboardInterrupt)


def _told(error: BaseException, path: str, line: int) -> PluginError:
    at = [number for frame, number in walk_tb(error.__traceback__) if frame.f_code.co_filename == path]
    at += [error.lineno or 1] if isinstance(error, SyntaxError) and error.filename == path else []
    said = " ".join(str(error).split())
    kind = "" if isinstance(error, PerfError) else f"{type(error).__name__}: " if said else type(error).__name__
    return PluginError(f"{path}:{at[-1] if at else line}: {kind}{said}")


def shown(value: Any) -> str:
    """A value as text of one line and no great length."""
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
