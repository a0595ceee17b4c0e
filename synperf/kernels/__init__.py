"""Kernel families: one exists because its module is in this folder and has a `FAMILY`, or is a file of the user's own.

A file of one's own is named by its path; what an installed package offers as an entry point of the group
`synperf.families`, by the name of that. Neither is run before it is named.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from ..errors import UnknownNameError
from .base import KernelFamily
from .own import FILES, LOADED

__all__ = ["KernelFamily", "families", "family", "installed", "load_family", "name_of", "of_type"]
SUFFIX = ".py"  # of what is a path and no name


@cache
def _module_names() -> tuple[str, ...]:
    return tuple(sorted(m.name for m in iter_modules(__path__) if m.name != "base" and not m.ispkg))


@cache
def _of_package() -> dict[str, KernelFamily]:
    found = (getattr(import_module(f"{__name__}.{name}"), "FAMILY", None) for name in _module_names())
    return {f.name: f for f in found if f is not None}


def families() -> dict[str, KernelFamily]:
    """Every family by its name: those of the package, and of the user's own those that were named."""
    return _of_package() | LOADED


def of_type(call_type: type) -> KernelFamily | None:
    """The family whose calls have this class, or None."""
    return _of_type(call_type)


@cache
def _of_type(call_type: type) -> KernelFamily | None:
    """A module that is called like the class, underscores aside, comes first: a call needs no other family."""
    alike = {name.replace("_", ""): name for name in _module_names()}.get(call_type.__name__.lower())
    found = getattr(import_module(f"{__name__}.{alike}"), "FAMILY", None) if alike else None
    if isinstance(found, KernelFamily) and found.call_type is call_type:
        return found
    return {kind.call_type: kind for kind in families().values()}.get(call_type)


def family(name: str) -> KernelFamily:
    """The family of that name.

    Raises:
        UnknownNameError: the message lists the nearest or all families.
        PluginError: it is an installed one, whose file is not what it should be.
    """
    return LOADED.get(name) or _package_family(name) or _installed_family(name)


@cache
def _package_family(name: str) -> KernelFamily | None:
    """A family of the package; its module alone is imported when the module is called like the family."""
    if name in _module_names():
        found = getattr(import_module(f"{__name__}.{name}"), "FAMILY", None)
        if isinstance(found, KernelFamily) and found.name == name:
            return found
    return _of_package().get(name)


def _installed_family(name: str) -> KernelFamily:
    names = _entry_points().names()
    if name.endswith(SUFFIX):
        raise UnknownNameError(f"family: {name!r} is a path, and tables run no file; right would be the family's name")
    if name not in names:
        raise UnknownNameError.among("kernel family", name, [*families(), *names])
    return _kept(*_entry_points().read(name))


def installed() -> tuple[str, ...]:
    """Names of the families that installed packages offer."""
    return tuple(sorted(_entry_points().names()))


def name_of(name: str | Path) -> str:
    """The name of a family that is named, or that is in the file of that path, which is loaded then.

    Raises: as `load_family`.
    """
    return load_family(name).name if isinstance(name, Path) or name.endswith(SUFFIX) else name


def load_family(path: str | Path) -> KernelFamily:
    """The family that a file describes; a file that has changed is read again.

    Raises:
        PluginError: it is not what it should be, or its name is that of another family.
    """
    source = import_module(".own.source", __name__)
    text, file = source.text(Path(path)), str(Path(path).resolve())
    known = next((LOADED[name] for name, place in FILES.items() if place == file), None)
    if known is not None and known.digest == source.digest(text):
        return known
    found = source.run(Path(path), text)
    made = import_module(".own.family", __name__).family_of(found)
    if owner := _owner(made.name, file):
        raise found.wrong("NAME", f"{made.name} is {owner}; right would be another NAME")
    return _kept(made, file)


def _owner(name: str, file: str) -> str:
    """Whose family has a name already, where it is not this file's; empty where nobody's is."""
    if _package_family(name) is not None:
        return "a family of synperf"
    return "" if FILES.get(name, file) == file else f"the family of {FILES[name]}"


def _kept(made: KernelFamily, file: str) -> KernelFamily:
    """The family under its name, from now on."""
    for before in [name for name, place in FILES.items() if place == file]:  # the file may have changed its name
        del LOADED[before], FILES[before]
    LOADED[made.name], FILES[made.name] = made, file
    _of_type.cache_clear()
    return made


def _entry_points() -> Any:
    """The module of installed families, which answers without them need not import."""
    return import_module(".own.installed", __name__)
