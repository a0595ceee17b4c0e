"""How an engine chooses what the next iteration runs."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import FieldError

ORDERS = ("mixed", "prefill_first")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Requests are served in order of arrival.

    `order`: "mixed" runs requests in decode and chunks of prompts in one iteration, decodes first; "prefill_first" runs
    waiting prompts alone, and decodes only where no prompt can run. `token_budget` are new tokens of an iteration, of
    each of the `dp` groups; `chunked` says whether a prompt may be cut to fit it (else one that is longer than the
    budget, or than what decodes leave of it, runs alone). `max_requests` run at once, and no more than the budget has
    tokens. `block_tokens` of the cache are taken at a time.

    Raises:
        FieldError: a field is not what it should be.
    """

    order: str = "mixed"
    token_budget: int = 8192
    chunked: bool = True
    max_requests: int = 1024
    block_tokens: int = 16

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise FieldError(f"order must be one of {', '.join(ORDERS)}, got {self.order!r}")
        for name in ("token_budget", "max_requests", "block_tokens"):
            value = getattr(self, name)
            if not 1 <= value < 2**31:
                raise FieldError(f"{name} must be from 1 to 2147483647, got {value}")
