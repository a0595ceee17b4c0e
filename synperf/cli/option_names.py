"""Fields of functions by the names of the options that give them, where these differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import PerfError


@contextmanager
def as_options(**options: str) -> Iterator[None]:
    """Puts the option in the place of the field that the message of an error begins with.

    Raises:
        PerfError: one was raised; of the same kind.
    """
    try:
        yield
    except PerfError as error:
        field = re.match(r"\w*", str(error))
        name = field.group() if field else ""
        raise type(error)(options.get(name, name) + str(error)[len(name) :]) from error
