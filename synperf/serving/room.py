"""Room for tokens in the cache, which is taken in blocks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort


class Room:
    """`max_tokens` in whole blocks of `block_tokens`; None is room without end.

    Prompts take the blocks of all their tokens at once. A request in decode has `phase` + clock tokens, where the clock
    counts iterations of decode: so what all of them take is known at any clock without a look at each.
    """

    __slots__ = ("_block", "_blocks", "_parts", "_prompts", "_whole")

    def __init__(self, max_tokens: int | None, block_tokens: int) -> None:
        self._block = block_tokens
        self._blocks = None if max_tokens is None else max_tokens // block_tokens
        self._prompts = 0  # blocks of prompts that are not yet in decode
        self._whole = 0  # sum over requests in decode of the whole blocks of phase + block - 1
        self._parts: list[int] = []  # and the remainders, in order

    def fits(self, tokens: int, clock: int) -> bool:
        """Whether a prompt of that many tokens has room while the others are as they are at that clock."""
        return self._has(clock, -(-tokens // self._block))

    def hold(self, tokens: int) -> None:
        """Takes the blocks of a prompt."""
        self._prompts -= -tokens // self._block

    def release(self, tokens: int) -> None:
        """Gives back the blocks of a prompt."""
        self._prompts += -tokens // self._block

    def join(self, phase: int) -> None:
        """A request in decode takes blocks from now on."""
        if self._blocks is not None:
            whole, part = divmod(phase + self._block - 1, self._block)
            self._whole += whole
            insort(self._parts, part)

    def leave(self, phase: int) -> None:
        """Gives back the blocks of a request in decode."""
        if self._blocks is not None:
            whole, part = divmod(phase + self._block - 1, self._block)
            self._whole -= whole
            del self._parts[bisect_left(self._parts, part)]

    def last(self, clock: int, most: int) -> int:
        """The last clock from `clock` to `most` at which there is room for all; `clock` where there is none later."""
        if self._has(most):
            return most
        return clock + bisect_right(range(clock + 1, most), False, key=lambda at: not self._has(at))

    def _has(self, clock: int, more: int = 0) -> bool:
        """Whether there is room at that clock for so many blocks more."""
        if self._blocks is None:
            return True
        whole, part = divmod(clock, self._block)
        decodes = len(self._parts)
        begun = decodes - bisect_left(self._parts, self._block - part)  # their remainders make one block more
        return self._prompts + self._whole + decodes * whole + begun + more <= self._blocks
