"""Drawing of a launch of identical tasks: one row per SM, time to the right, one block per wave.

Tasks are given out breadth first, so rows that hold equally many are neighbours and one rectangle stands for them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from ..light_classes import dataclass
from ..units import format_time
from .svg import document, rect, text
from .text import counted, share_full

_WIDTH, _LEFT, _RIGHT, _TOP, _FOOT = 980.0, 80.0, 212.0, 80.0, 128.0
_PLOT = _WIDTH - _LEFT - _RIGHT
_HEIGHT = 400.0  # of all rows, about
_SHOWN = 4  # full waves drawn at either side of the break, where there are many
_MOST_WAVES = 16
_BREAK = 1.5  # width of the break, in waves
_LABEL = 52  # width of a label below the axis
_WAVE, _OTHER_WAVE, _TAIL, _IDLE, _BUSY = "#4c78a8", "#6f97c1", "#f58518", "#ececec", "#c62828"
_LEGEND = ((_WAVE, "full wave", 100), (_TAIL, "last wave (tail)", 140), (_IDLE, "idle", 68), (_BUSY, "busiest SMs", 0))
_HOW = "Each row is an SM, each block its tasks of one wave; grey is an SM without work; the busiest SMs set the time."
_NOT = "Not shown: launch overhead, waiting for DRAM and L2, tasks of unequal length, the drift of SMs out of step."


@dataclass(frozen=True, slots=True, kw_only=True)
class Waves:
    """A launch: `full` whole waves of `slots` tasks, then `tail` tasks, from one to as many."""

    num_tasks: int
    num_sms: int
    ctas_per_sm: int
    task_s: float | None = None  # on an SM of its own

    @property
    def slots(self) -> int:
        """Tasks that the GPU holds at once."""
        return self.num_sms * self.ctas_per_sm

    @property
    def full(self) -> int:
        """Whole waves before the last one."""
        return (self.num_tasks - 1) // self.slots

    @property
    def tail(self) -> int:
        """Tasks of the last wave."""
        return self.num_tasks - self.full * self.slots

    @property
    def most(self) -> int:
        """Tasks of the busiest SM."""
        return -(-self.num_tasks // self.num_sms)

    @property
    def tail_width(self) -> float:
        """How long the last wave lasts, in waves: less than 1 when no SM is full in it."""
        return (self.most - self.full * self.ctas_per_sm) / self.ctas_per_sm

    @property
    def num_busiest(self) -> int:
        """SMs that run so many."""
        return self.num_tasks - (self.most - 1) * self.num_sms


def render(waves: Waves, heading: str = "") -> str:
    """The drawing as an SVG document."""
    plot = _Plot.of(waves)
    title = f"{counted(waves.num_tasks, 'task')} over {counted(waves.num_sms, 'SM')}"
    drawn = (_blocks(waves, plot), _axes(waves, plot), _sides(waves, plot), _legend(plot))
    parts = chain(_titles(waves, title, heading), *drawn)
    return document(_WIDTH, plot.bottom + _FOOT, f"{title}. {_HOW}", parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plot:
    """Where waves and rows stand: `row` is the height of an SM, `wave` the width of a wave."""

    row: float
    wave: float
    bottom: float
    hidden: int  # full waves that the break stands for

    @classmethod
    def of(cls, waves: Waves) -> _Plot:
        even = _HEIGHT / waves.num_sms
        row = min(float(round(even)), 24.0) if even >= 1 else even  # whole pixels, so that all rows look alike
        hidden = waves.full - 2 * _SHOWN if waves.full + 1 > _MOST_WAVES else 0
        units = waves.tail_width + (2 * _SHOWN + _BREAK if hidden else waves.full)
        return cls(row=row, wave=_PLOT / units, bottom=_TOP + row * waves.num_sms, hidden=hidden)

    def x(self, wave: float) -> float:
        """Where a wave begins that is not hidden."""
        past_break = self.hidden and wave >= _SHOWN + self.hidden
        return _LEFT + (wave - self.hidden + _BREAK if past_break else wave) * self.wave

    def y(self, sm: float) -> float:
        """Upper edge of an SM's row."""
        return _TOP + sm * self.row


def _titles(waves: Waves, title: str, heading: str) -> Iterator[str]:
    share = f"the last {share_full(waves.tail / waves.slots)} full"
    held = f"{waves.slots:,} at once ({waves.ctas_per_sm} per SM)"
    said = f"{held}; {counted(waves.full + 1, 'wave')}, {share if waves.full else share.removeprefix('the last ')}"
    yield text(_LEFT, 28, heading or title, size=18, bold=True)
    yield text(_LEFT, 52, f"{title}, {said}" if heading else said, size=13, fill="#444")


def _blocks(waves: Waves, plot: _Plot) -> Iterator[str]:
    """Idle ground, full waves, the tail; then thin lines between rows."""
    yield rect(_LEFT, _TOP, _PLOT, plot.bottom - _TOP, _IDLE)
    for wave in _shown(waves.full, plot):
        yield rect(plot.x(wave), _TOP, plot.wave - 1, plot.bottom - _TOP, _OTHER_WAVE if wave % 2 else _WAVE)
    if plot.hidden:
        yield from _gap(plot)
    least, more = divmod(waves.tail, waves.num_sms)
    for first, last, ctas in ((0, more, least + 1), (more, waves.num_sms, least)):
        if ctas and last > first:
            width = plot.wave * ctas / waves.ctas_per_sm
            yield rect(plot.x(waves.full), plot.y(first), width, (last - first) * plot.row, _TAIL)
    if plot.row >= 3:
        for sm in range(1, waves.num_sms):
            yield rect(_LEFT, plot.y(sm), _PLOT, 1, "#fff", opacity=0.45)


def _shown(count: int, plot: _Plot) -> Iterable[int]:
    """Of that many first waves those that are not hidden."""
    return chain(range(_SHOWN), range(_SHOWN + plot.hidden, count)) if plot.hidden else range(count)


def _gap(plot: _Plot) -> Iterator[str]:
    left, width = plot.x(_SHOWN), _BREAK * plot.wave
    middle, height = left + width / 2, (_TOP + plot.bottom) / 2
    yield rect(left, _TOP - 1, width, plot.bottom - _TOP + 2, "#fff")
    yield text(middle, height - 4, f"{plot.hidden:,} more", anchor="middle")
    yield text(middle, height + 12, "full waves", anchor="middle")


def _axes(waves: Waves, plot: _Plot) -> Iterator[str]:
    """Wave numbers, or times where a task's is known, below the edges of waves; SM numbers at the left."""
    apart = max(1, round(_LABEL / plot.wave))
    for x, wave in _edges(waves, plot):
        yield rect(x, plot.bottom, 1, 5, "#555")
        is_last = wave > waves.full
        if is_last or ((wave % apart == 0 or plot.hidden) and _LEFT + _PLOT - x >= _LABEL):
            yield text(x, plot.bottom + 19, _tick(waves, wave), size=11, anchor="middle", fill="#444")
    label = "waves done" if waves.task_s is None else "time that the tasks take, at the end of each wave"
    yield text(_LEFT + _PLOT / 2, plot.bottom + 38, label, anchor="middle", fill="#444")
    yield text(_LEFT - 8, _TOP + 10, "SM 0", size=11, anchor="end", fill="#444")
    if plot.bottom - _TOP > 24:
        yield text(_LEFT - 8, plot.bottom, f"SM {waves.num_sms - 1:,}", size=11, anchor="end", fill="#444")


def _edges(waves: Waves, plot: _Plot) -> Iterator[tuple[float, int]]:
    """(x, wave) of every edge in the drawing; the last is where the busiest SM ends."""
    for wave in _shown(waves.full + 1, plot):
        yield plot.x(wave), wave
    if plot.hidden:
        yield plot.x(_SHOWN - 1) + plot.wave, _SHOWN
    yield _LEFT + _PLOT, waves.full + 1


def _tick(waves: Waves, wave: int) -> str:
    if waves.task_s is None or wave == 0:
        return f"{wave:,}"
    return format_time(min(wave * waves.ctas_per_sm, waves.most) * waves.task_s, 4)


def _sides(waves: Waves, plot: _Plot) -> Iterator[str]:
    """At the right, a bar along the busiest SMs, and how many tasks they and the others run."""
    x, split = _LEFT + _PLOT + 8, plot.y(waves.num_busiest)
    yield rect(x, _TOP, 4, max(split - _TOP, 2), _BUSY)
    yield text(x + 12, _TOP + 11, f"busiest: {counted(waves.num_busiest, 'SM')}", fill=_BUSY, bold=True)
    yield text(x + 12, _TOP + 27, f"with {_each(waves.num_busiest, waves.most)}", fill=_BUSY)
    others = waves.num_sms - waves.num_busiest
    if others:
        y = min(max((split + plot.bottom) / 2 + 4, _TOP + 48), plot.bottom + 16)
        said = f"with {_each(others, waves.most - 1)}" if waves.most > 1 else "without work"
        yield text(x + 12, y, f"{counted(others, 'SM')} {said}", fill="#444")


def _each(sms: int, tasks: int) -> str:
    return counted(tasks, "task") + (" each" if sms > 1 else "")


def _legend(plot: _Plot) -> Iterator[str]:
    x, y = _LEFT, plot.bottom + 66
    for colour, words, width in _LEGEND:
        yield rect(x, y - 10, 12, 12, colour)
        yield text(x + 18, y, words)
        x += width
    yield text(_LEFT, y + 26, _HOW, fill="#444")
    yield text(_LEFT, y + 44, _NOT, fill="#444")
