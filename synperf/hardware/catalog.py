"""A GPU by key, alias or file. An exact key reads that one file; an alias reads the top of every file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from ..errors import FieldError, UnknownNameError
from .fields import check, show
from .gpu import GPU
from .makers import NVIDIA
from .names import FOLDER, is_of_another_maker, keys, resolve
from .parse import build, parse, printable, read_text, toml
from .partial import complete
from .records import calibrated

_KEY = re.compile(r"[a-z0-9_]{1,60}")


def gpu(name_or_path: str | Path) -> GPU:
    """The GPU of that key (`h100_sxm`), alias (`NVIDIA H100 80GB HBM3`) or TOML file (`my.toml`).

    Case and the separators space, `-`, `_`, `.`, `/` do not matter in a name. What ends in `.toml` is a file, and so is
    what has a separator of folders and exists. A file may be partial: `assumptions` says what was filled in. The same
    key or alias gives the same object; a file is read anew.

    Raises:
        UnknownNameError: neither a name nor a file.
        FileFormatError, FieldError: the file is broken; the message names it and the field.
    """
    if isinstance(name_or_path, Path):
        return _from_file(name_or_path)
    if not isinstance(name_or_path, str):
        raise FieldError(f"gpu: {show(name_or_path)} is not a name or a path")
    if name_or_path.lower().endswith(".toml") or _is_path(name_or_path):
        return _from_file(Path(name_or_path))
    return _by_name(name_or_path)


def gpus() -> list[GPU]:
    """Every GPU of the catalog, by key."""
    return [_by_key(key) for key in keys()]


def of_keys(keys: Iterable[str], named: Iterable[str] = ()) -> dict[str, GPU]:
    """The GPUs of these keys, by key. That of a file has a key that only the file tells: it is among those `named`.

    Raises:
        UnknownNameError: a key is neither of the catalog nor of one that is named.
    """
    own = {found.key: found for found in map(gpu, named)}
    return {key: own[key] if key in own else gpu(key) for key in sorted(set(keys))}


def _is_path(name: str) -> bool:
    """Whether a name has a separator of folders and something is there; `RTX 6000/Ada` is a name."""
    try:
        return ("/" in name or "\\" in name) and Path(name).exists()
    except (OSError, ValueError):  # too long, or a NUL in it
        return False


@cache
def _by_name(name: str) -> GPU:
    if _KEY.fullmatch(name) and (FOLDER / f"{name}.toml").is_file():
        return _by_key(name)
    key, assumed = resolve(name)
    if not key:
        raise _unknown(printable(name)[:60])
    found = _by_key(key)
    return replace(found, assumptions=(*found.assumptions, assumed)) if assumed else found


def _unknown(name: str) -> UnknownNameError:
    if is_of_another_maker(name):
        others = ", ".join(one.key for one in gpus() if one.maker != NVIDIA)
        known = f"those of other makers than NVIDIA are {others}, and a file of one's own works, such as my_gpu.toml"
        return UnknownNameError(f"no GPU named {name!r}; {known}")
    return UnknownNameError.among("GPU", name, keys())


@cache
def _by_key(key: str) -> GPU:
    return calibrated(published(key))


@cache
def published(key: str) -> GPU:
    """A GPU of the catalog by its key, without what was measured on it or on GPUs near it."""
    path = FOLDER / f"{key}.toml"
    return parse(read_text(path), key, path.name)


def _from_file(path: Path) -> GPU:
    """A user's GPU. Its key is the file's name, marked where the catalog has that key, so that rows measured on the
    catalog's GPU are never taken for it.
    """
    where = printable(path)
    document = check(toml(read_text(path), where), where)
    filled, said = complete(document, where, gpus)
    key = re.sub(r"[^a-z0-9]+", "_", path.stem.lower()).strip("_") or "gpu"
    return calibrated(build(filled, f"{key}_file" if key in keys() else key, where, said))
