"""Sentences that differ in numbers alone, as one of them and how many more there are."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBER = re.compile(r"\d[\d.,]*(e[+-]?\d+)?( ?[kMGTP]i?(?=B))?")


def alike(sentences: Iterable[str]) -> tuple[str, ...]:
    """The first sentence of each kind; kernels of a pass say the same of their own sizes."""
    kinds: dict[str, list[str]] = {}
    for sentence in dict.fromkeys(sentences):
        kinds.setdefault(_NUMBER.sub("#", sentence), []).append(sentence)
    return tuple(one[0] if len(one) == 1 else f"{one[0]} (and {len(one) - 1} alike)" for one in kinds.values())
