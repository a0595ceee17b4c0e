"""Sizes and the course of a training, by the number of rows and the family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...estimators.shapes import AXES

HIDDEN, QUICK = (128, 128, 32), (128, 64, 32)
# Families whose calls were timed with an overhead that no field tells and all GPUs share, see `shared.py`, and the
# inputs that tell their calls apart. Of convolutions it is up to 0.3 to 0.8 ms, as much as half of them take.
SHARED: Mapping[str, tuple[str, ...]] = {"conv": ("batch", "in_channels", "out_channels", "out_height", "out_width")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Sizes and the course of the training; `epochs` passes over the rows in batches of `batch`."""

    hidden: tuple[int, ...] = HIDDEN
    pieces: int = 6
    epochs: int = 24
    batch: int = 2048
    learning_rate: float = 1e-2
    weight_decay: float = 1e-2
    shared: tuple[str, ...] = ()  # inputs that tell calls apart whose overhead all GPUs share; none where there is none

    @classmethod
    def for_rows(cls, rows: int, family: str) -> Settings:
        """More epochs and smaller batches for fewer rows, so that every training has some thousand steps."""
        epochs, batch = min(max(1_200_000 // max(rows, 1), 24), 60), min(max(rows // 200, 128), 2048)
        found = cls(hidden=_hidden(family), epochs=epochs, batch=batch, shared=SHARED.get(family, ()))
        return replace(found, epochs=15, batch=512) if found.shared else found  # of rows that are seen several times

    @property
    def of_shares(self) -> Settings:
        """Of the network that is fitted together with the shares of an overhead; fitted apart, more decay paid."""
        return replace(self, epochs=3 * self.epochs, weight_decay=0.1)

    @property
    def passes(self) -> int:
        """Epochs in all, those of shares too."""
        return self.epochs + (self.of_shares.epochs if self.shared else 0)

    @property
    def cost(self) -> int:
        """Of a training with these settings, per row, in units that order them."""
        return self.epochs * max(self.hidden)

    @classmethod
    def that_measure(cls, rows: int, family: str) -> Settings:
        """For networks that only measure what an unseen GPU or shape costs: some thousand steps of larger batches."""
        return cls(hidden=_hidden(family), epochs=min(max(1_000_000 // max(rows, 1), 12), 40), batch=512)

    @classmethod
    def of_tables(cls, rows: int, family: str) -> Settings:
        """A larger network, for which the cost of an answer counts for less than its error."""
        return replace(cls.for_rows(rows, family), hidden=(384, 192, 64))


def _hidden(family: str) -> tuple[int, ...]:
    """Where a larger network stands beside it, one that answers sooner."""
    return QUICK if family in AXES else HIDDEN
