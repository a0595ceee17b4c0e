"""What was fitted to a user's serving points, as text and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..training.own_stack import Errors, OwnFit
from ..units import format_percent
from .text import counted, paragraphs, table


def to_dict(found: OwnFit) -> dict[str, Any]:
    """Counts, errors and factors."""
    document = {"points": found.points, "limited": found.limited, "before": asdict(found.before)}
    if found.after is not None:
        document["after"] = asdict(found.after)
    levels = [
        {"engine": one.engine, "gpu": one.gpu, "family": one.family, "points": one.points,
         "order": one.policy.order, "token_budget": one.policy.token_budget, "factors": asdict(one.factors)}
        for one in found.file.levels
    ]  # fmt: skip
    return {**document, "levels": levels}


def to_text(found: OwnFit) -> str:
    """Errors without the points, and with them on those that were left out."""
    rows = [_row("without them", found.before)]
    rows += [] if found.after is None else [_row("with the others", found.after)]
    heads = ["errors on points", "TTFT median", "mean", "TPOT median", "mean"]
    aside = f"{counted(found.limited, 'more')} whose clients have no room in the cache all at once"
    head = counted(found.points, "point") + (f" ({aside})" if found.limited else "")
    return paragraphs(head, table(heads, rows, heads[1:]))


def _row(name: str, errors: Errors) -> list[str]:
    return [name, *(format_percent(one) for one in
                    (errors.ttft_median, errors.ttft_mean, errors.tpot_median, errors.tpot_mean))]  # fmt: skip
