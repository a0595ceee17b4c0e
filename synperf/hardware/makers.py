"""What each maker calls the parts of a GPU, from makers.toml. Code and JSON have NVIDIA's words, people read these."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from ..light_classes import dataclass

NVIDIA = "nvidia"
_FILE = Path(__file__).parent / "makers.toml"
_WORD = re.compile(r"\b(an (?=SM\b))?(SM|CTA|cta|warp)(?=s?\b)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """The words of one maker."""

    name: str
    target: str
    article: str  # before `sm`
    sm: str
    warp: str
    cta: str

    def said(self, text: str) -> str:
        """A text about an SM, its CTAs and warps in this maker's words."""
        return _WORD.sub(self._word, text)

    def _word(self, found: re.Match[str]) -> str:
        """One word, behind the article that goes with it: `an SM`, `a CU`."""
        own = str(getattr(self, found[2].lower()))
        return f"{self.article} {own}" if found[1] else own


@cache
def maker(key: str) -> Maker:
    """The words of a maker, e.g. of `"amd"`; the key is that of a compute capability in the table."""
    return Maker(**tomllib.loads(_FILE.read_text(encoding="utf-8"))[key])
