"""Embedding: the row of a table for every token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..numeric import minimum
from .memory_call import RowCall
from .memory_family import memory_family
from .memory_work import INDEX_BYTES, Work, row_work


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding(RowCall):
    """`rows` tokens, of a table of `vocab` rows of `dim` values. Tokens differ as far as the table has rows; without
    `vocab` it has enough.
    """

    vocab: Any = None

    FAMILY = "embedding"
    OPTIONAL = ("vocab",)


def work(p: Embedding) -> Work:
    """A row of the table and an index in, the row out."""
    found = row_work(p)
    found.row_in = INDEX_BYTES
    if p.vocab is not None:
        found.unique_in = minimum(p.vocab / p.rows, 1.0)
    return found


FAMILY = memory_family(Embedding(rows=4096, dim=4096, vocab=128256), "rows of a table, one for each token", work)
