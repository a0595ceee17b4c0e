"""Horizontal bars: a group for each label, of which each has a bar per series, or one bar of stacked pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from .. import svg
from ..text import number
from .frame import MARGIN, MUTED, SOFT, TOP, WIDTH, colour, document

_BAR, _GAP, _VALUE = 16.0, 10.0, 110.0  # height of a bar, space after a group, room for the value


def side_by_side(
    title: str,
    series: Sequence[str],
    groups: Mapping[str, Sequence[float]],
    shown: Callable[[float], str] = number,
    words: Sequence[str] = (),
) -> str:
    """One bar for each series of each group, its value written beside it; the longest fills the width."""
    most = max((value for values in groups.values() for value in values), default=0.0) or 1.0
    left, scale = _scaled(groups, most)
    body, y = [], TOP
    for label, values in groups.items():
        body.append(svg.text(left - 8, y + _BAR * len(values) / 2 + 4, label, anchor="end"))
        for place, value in enumerate(values):
            body.append(svg.rect(left, y, max(value, 0.0) * scale, _BAR - 2, colour(place)))
            body.append(svg.text(left + max(value, 0.0) * scale + 5, y + 12, shown(value), size=11, fill=SOFT))
            y += _BAR
        y += _GAP
    return document(title, body, y, series if len(series) > 1 else (), words)


def stacked(
    title: str,
    series: Sequence[str],
    groups: Mapping[str, Sequence[float]],
    shown: Callable[[float], str] = number,
    words: Sequence[str] = (),
    most: float | None = None,
) -> str:
    """One bar for each group, of a piece for each series; `most` (a capacity) is a grey bar behind, if it is given."""
    longest = max([sum(values) for values in groups.values()] + ([] if most is None else [most]), default=0.0) or 1.0
    left, scale = _scaled(groups, longest)
    body, y = [], TOP
    for label, values in groups.items():
        body.append(svg.text(left - 8, y + 14, label, anchor="end"))
        if most is not None:
            body.append(svg.rect(left, y, most * scale, _BAR + 4, MUTED))
        body += _pieces(values, left, y, scale)
        body.append(svg.text(left + max(sum(values), most or 0.0) * scale + 5, y + 14, shown(sum(values)), size=11))
        y += _BAR + 4 + _GAP
    return document(title, body, y, series, words)


def _pieces(values: Sequence[float], left: float, y: float, scale: float) -> Iterator[str]:
    x = left
    for place, value in enumerate(values):
        yield svg.rect(x, y, value * scale, _BAR + 4, colour(place))
        x += value * scale


def _scaled(groups: Mapping[str, Sequence[float]], most: float) -> tuple[float, float]:
    """Where bars begin, right of their labels, and their width for each unit."""
    left = MARGIN + min(240.0, max((svg.width_of(label) for label in groups), default=0.0) + 12)
    return left, (WIDTH - left - _VALUE) / most
