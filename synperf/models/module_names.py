"""Lists of modules in a checkpoint: names, parts of names, patterns with `*`, and regular expressions after `re:`."""

from __future__ import annotations

import re

from ..errors import FieldError

_OWNERS = re.compile(r"^(?:(?:model|language_model|transformer)\.)+")
_SPELLINGS = ("", "model.", "language_model.model.", "model.language_model.")  # what may stand before `layers.`
_REGULAR = "re:"


class ModuleNames:
    """Whether a module of the language model is in a list of names.

    What stands before `layers.` in a name does not matter. A plain name is of a module and all within it, or of the end
    of a name: `mlp.gate` is that of every layer.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        regular = [_checked(name.removeprefix(_REGULAR)) for name in names if name.startswith(_REGULAR)]
        rest = [_OWNERS.sub("", name) for name in names if not name.startswith(_REGULAR)]
        self._plain = frozenset(name for name in rest if "*" not in name)
        self._globs = _any_of([_glob(name) for name in rest if "*" in name])
        self._regular = _any_of(regular)

    def have(self, module: str) -> bool:
        """Whether a module, by its name from `layers.` on, is among them."""
        parts = module.split(".")
        sizes = range(1, len(parts) + 1)
        if any(".".join(parts[:n]) in self._plain or ".".join(parts[-n:]) in self._plain for n in sizes):
            return True
        if self._globs is not None and self._globs.match(module):
            return True
        return self._regular is not None and any(self._regular.match(owner + module) for owner in _SPELLINGS)


def _glob(name: str) -> str:
    """An expression that a module, or what it is within, matches."""
    return re.escape(name).replace(r"\*", ".*") + r"(?:\.|$)"


def _any_of(expressions: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{one})" for one in expressions)) if expressions else None


def _checked(expression: str) -> str:
    """A regular expression.

    Raises:
        FieldError: it is none.
    """
    try:
        re.compile(expression)
    except re.error as error:
        raise FieldError(f"quantization_config: {expression[:60]!r} is no regular expression: {error}") from error
    return expression
