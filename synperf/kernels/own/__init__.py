"""Kernel families of a user's own: one Python file each, by path or as an installed entry point.

No file runs before its family is asked for by the path, or by the name of its entry point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..base import KernelFamily

ENGINE = "own"  # who runs a kernel of a user's own; its kernel is called like its family
LOADED: dict[str, KernelFamily] = {}  # by name, for as long as the process lasts
FILES: dict[str, str] = {}  # where each is from, by name
