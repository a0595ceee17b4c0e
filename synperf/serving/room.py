"""Room for tokens in the cache, which is taken in blocks."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter


class Room:
    """`max_tokens` in whole blocks of `block_tokens`; None is room without end.

    Prompts take the blocks of all their tokens at once. A request in decode has `phase` + clock tokens, where the clock
    counts iterations of decode: so what all of them take is known at any clock without a look at each.
    """

    __slots__ = ("_block", "_blocks", "_decodes", "_parts", "_prompts", "_whole")

    def __init__(self, max_tokens: int | None, block_tokens: int) -> None:
        self._block = block_tokens
        self._blocks = None if max_tokens is None else max_tokens // block_tokens
        self._prompts = 0  # blocks of prompts that are not yet in decode
        self._decodes = 0
        self._whole = 0  # sum over requests in decode of the whole blocks of phase + block - 1
        self._parts: Counter[int] = Counter()  # and how many of them have each remainder

    def fits(self, tokens: int, clock: int) -> bool:
        """Whether a prompt of that many tokens has room while the others are as they are at that clock."""
        return self._blocks is None or self._used(clock) - -tokens // self._block <= self._blocks

    def hold(self, tokens: int) -> None:
        """Takes the blocks of a prompt."""
        self._prompts -= -tokens // self._block

    def release(self, tokens: int) -> None:
        """Gives back the blocks of a prompt."""
        self._prompts += -tokens // self._block

    def join(self, phase: int) -> None:
        """A request in decode takes blocks from now on."""
        self._count(phase, 1)

    def leave(self, phase: int) -> None:
        """Gives back the blocks of a request in decode."""
        self._count(phase, -1)

    def last(self, clock: int, most: int) -> int:
        """The last clock from `clock` to `most` at which there is room for all; `clock` where there is none later."""
        blocks = self._blocks
        if blocks is None or self._used(most) <= blocks:
            return most
        return clock + bisect_right(range(clock + 1, most), blocks, key=self._used)

    def _count(self, phase: int, sign: int) -> None:
        if self._blocks is None:
            return
        whole, part = divmod(phase + self._block - 1, self._block)
        self._whole += sign * whole
        self._decodes += sign
        self._parts[part] += sign
        if not self._parts[part]:
            del self._parts[part]

    def _used(self, clock: int) -> int:
        """Blocks that are taken at that clock."""
        whole, part = divmod(clock, self._block)
        late = self._block - part  # remainders from here on make one more block
        more = sum(count for remainder, count in self._parts.items() if remainder >= late)
        return self._prompts + self._whole + self._decodes * whole + more
