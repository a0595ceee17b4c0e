"""How long each pipe is busy, as bars: on average over the GPU, and on the busiest SM; the limiter in red."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..light_classes import dataclass
from ..units import format_time
from . import svg

WIDTH = 330.0
_LABEL, _VALUE = 112.0, 62.0  # width of names at the left, of times at the right
_BAR, _GROUP, _SINGLE = 13.0, 37.0, 23.0
_GPU, _SM, _OTHER, _LIMIT = "#a8c6e5", "#2f5f94", "#b9b9b9", "#c62828"


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Seconds by pipe on average over the GPU and on the busiest SM, and of what is beside them; `roles` say more."""

    gpu_s: Mapping[str, float]
    sm_max_s: Mapping[str, float]
    others_s: Mapping[str, float]
    limiter: str
    roles: Mapping[str, str]

    @property
    def most_s(self) -> float:
        """The longest of all."""
        return max([*self.gpu_s.values(), *self.sm_max_s.values(), *self.others_s.values()])


def render(times: Times, left: float, top: float) -> Iterator[str]:
    """The bars below their heading, whose baseline is `top`."""
    yield svg.text(left, top, "How long each pipe is busy", size=13, bold=True)
    y = top + 20
    for colour, words, at in ((_GPU, "whole GPU", 0), (_SM, "busiest SM", 104), (_OTHER, "beside them", 212)):
        yield svg.rect(left + at, y - 10, 12, 12, colour)
        yield svg.text(left + at + 18, y, words)
    y += 16
    for name, gpu_s in times.gpu_s.items():
        yield from _names(times, name, left, y + 11)
        yield from _bar(times, gpu_s, left, y, _GPU)
        yield from _bar(times, times.sm_max_s[name], left, y + _BAR, _SM)
        y += _GROUP
    for name, time_s in times.others_s.items():
        yield from _names(times, name, left, y + 10)
        yield from _bar(times, time_s, left, y, _OTHER)
        y += _SINGLE


def height(times: Times) -> float:
    """From the heading's baseline down to below the last bar."""
    return 36 + _GROUP * len(times.gpu_s) + _SINGLE * len(times.others_s)


def _names(times: Times, name: str, left: float, y: float) -> Iterator[str]:
    """A pipe's name, and below it what it does here, or that it is the limit."""
    limits = name == times.limiter
    yield svg.text(left, y, f"{name}, limit" if limits else name, size=11, fill=_LIMIT if limits else "#222")
    if name in times.roles:
        yield svg.text(left, y + 13, times.roles[name], size=10, fill="#666")


def _bar(times: Times, time_s: float, left: float, y: float, colour: str) -> Iterator[str]:
    width = (WIDTH - _LABEL - _VALUE) * time_s / times.most_s
    yield svg.rect(left + _LABEL, y, width, _BAR - 1, colour)
    yield svg.text(left + _LABEL + width + 4, y + 10, format_time(time_s), size=10, fill="#444")
