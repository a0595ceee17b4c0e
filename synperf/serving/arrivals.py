"""Requests in the order in which they come, as columns."""

from __future__ import annotations

from dataclasses import dataclass

from .iterations import Floats, Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """What every kind of load comes down to; columns of one length.

    `isl` tokens of the prompt, of which the first `cached` are in the cache already, and `osl` of the answer. Without
    `clients` requests come by the clock, at `arrived_s`, which never falls. With them the first `clients` come so, and
    each of the others when one is completed.
    """

    isl: Integers
    osl: Integers
    cached: Integers
    arrived_s: Floats
    clients: int | None = None

    def __len__(self) -> int:
        return len(self.isl)

    @property
    def clocked(self) -> int:
        """Requests that come by the clock; they are the first ones."""
        return len(self) if self.clients is None else min(self.clients, len(self))
