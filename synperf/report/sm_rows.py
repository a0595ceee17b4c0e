"""Drawing of a launch of unequal tiles: one row per SM, its work to the right, beside it how long each pipe is busy.

Rows come from placing the tiles one by one. What times stand on are closed forms: the lines across the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ..kernels.one_by_one import Order, Tiles
from ..light_classes import dataclass
from ..scheduling import Placement
from ..units import format_time
from . import axis, panels, svg
from .panels import BUSY, LEFT, MEAN, MEAN_DASH, PLOT, TOP, Key
from .pipe_bars import Times
from .sm_pieces import IN_TURN, Rows, rows_in_turn, rows_of, rows_of_two
from .text import counted, number

_HEIGHT = 330.0  # of all rows, about
_AXIS = 56.0  # height of what stands below the rows
_GAP, _STRIP, _LABEL = 16.0, 14.0, 20.0  # above the strip of a split tile, its height, and below it
_SHADES = ("#c3dbef", "#8fbce0", "#5b97cb", "#2f6fae", "#0d3f7c")  # from short to long
_THEN, _IDLE = "#f2b263", "#f0f0f0"
_ORDERS = {
    Order.LONGEST_FIRST: "an SM that is free takes the longest tile that is left",
    Order.IN_ORDER: "an SM that is free takes the next tile, in the order of the call",
    Order.EVENLY: "tiles stand in a row, and are cut where an SM has its share",
}
_NOT = "Not shown at the left: CTAs side by side, launch overhead, fills, the pass before, DRAM, which may take longer."


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Tiles and where they run; `step_s` is a step on the busiest SM's slowest pipe but DRAM, `then_s` what follows."""

    tiles: Tiles
    placed: Placement | None
    num_sms: int
    keys_per_step: int
    steps_per_part: int | None  # of a tile that the kernel's rule splits
    notes: tuple[str, ...]  # sentences: how tiles are split, what follows
    step_s: float
    step_pipe: str
    then_s: float

    @property
    def mean(self) -> float:
        """Steps of the mean SM."""
        return self.tiles.total / self.num_sms

    @property
    def imbalance(self) -> float:
        """Work of the busiest SM over the mean, on which times stand."""
        return self.tiles.busiest / self.mean

    @property
    def span(self) -> float:
        """Steps that the drawing is wide."""
        drawn = 0.0 if self.placed is None else self.placed.makespan
        return max(drawn, self.tiles.busiest + self.then_s / self.step_s)


def render(launch: Launch, times: Times, heading: str, call: str) -> str:
    """The drawing as an SVG document."""
    rows = _rows(launch)
    plot = _Plot.of(launch, len(rows.rows))
    frame = panels.Frame(
        heading=heading,
        call=call,
        title=f"{counted(launch.tiles.num_tiles, 'tile')} over {counted(launch.num_sms, 'SM')}, {launch.tiles.order}",
        times=times,
        legend=tuple(_keys(launch, rows)),
        words=tuple(_words(launch, rows)),
    )
    panel, bottom = [_blocks(launch, rows, plot), _axes(launch, plot)], plot.bottom + _AXIS
    if launch.steps_per_part is not None:
        panel.append(_split(launch, launch.steps_per_part, bottom + _GAP))
        bottom += _GAP + _STRIP + _LABEL
    return panels.render(frame, chain(*panel), bottom)


def _rows(launch: Launch) -> Rows:
    if launch.placed is None:
        return rows_of_two(launch.tiles.busiest, launch.mean, launch.num_sms)
    if launch.tiles.order is Order.EVENLY and launch.tiles.lengths is not None:
        return rows_in_turn(launch.placed, launch.tiles.lengths)
    return rows_of(launch.placed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plot:
    """Height of a row, width of a step, and where rows end."""

    row: float
    step: float
    bottom: float

    @classmethod
    def of(cls, launch: Launch, num_rows: int) -> _Plot:
        even = _HEIGHT / num_rows
        row = min(float(round(even)), 24.0) if even >= 1 else even
        return cls(row=row, step=PLOT / launch.span, bottom=TOP + row * num_rows)

    def x(self, steps: float) -> float:
        """Where so many steps end."""
        return LEFT + steps * self.step


def _blocks(launch: Launch, rows: Rows, plot: _Plot) -> Iterator[str]:
    """Idle ground, the work of each SM, the second launch, the lines of the busiest SM and of the mean."""
    yield svg.rect(LEFT, TOP, PLOT, plot.bottom - TOP, _IDLE)
    for shade, outline in sorted(_outlines(rows, plot).items()):
        yield svg.path(outline, _SHADES[shade])
    busiest = plot.x(launch.tiles.busiest)
    if launch.then_s:
        yield svg.rect(busiest, TOP, launch.then_s / launch.step_s * plot.step, plot.bottom - TOP, _THEN)
    for x, colour, dash in ((busiest, BUSY, "none"), (plot.x(launch.mean), MEAN, MEAN_DASH)):
        yield svg.line(x, TOP - 4, x, plot.bottom + 4, colour, stroke_dasharray=dash)


def _outlines(rows: Rows, plot: _Plot) -> dict[int, str]:
    """The blocks of each shade as one path, with a gap between neighbours where there is room for it."""
    found: dict[int, list[str]] = {}
    height = plot.row - (0.6 if plot.row >= 2.5 else 0.0)
    for at, row in enumerate(rows.rows):
        y = TOP + at * plot.row
        for start, length, shade in zip(row.starts, row.lengths, row.shades, strict=True):
            width = length * plot.step - min(0.8, length * plot.step / 4)
            outline = f"M{plot.x(start):.1f} {y:.1f}h{width:.1f}v{height:.1f}h-{width:.1f}z"
            found.setdefault(int(shade), []).append(outline)
    return {shade: "".join(outlines) for shade, outlines in found.items()}


def _axes(launch: Launch, plot: _Plot) -> Iterator[str]:
    """Steps, and the time that they take, below the rows; which SM is which at the left."""
    for steps in axis.ticks(launch.span, 5):
        x = plot.x(steps)
        yield svg.rect(x, plot.bottom, 1, 5, "#555")
        yield svg.text(x, plot.bottom + 18, axis.label(steps), size=11, anchor="middle", fill="#444")
        yield svg.text(x, plot.bottom + 33, format_time(steps * launch.step_s), size=11, anchor="middle", fill="#444")
    said = f"steps over {launch.keys_per_step:,} keys, and the time of so many ({launch.step_pipe})"
    yield svg.text(LEFT + PLOT / 2, plot.bottom + 52, said, anchor="middle", fill="#444")
    yield svg.text(LEFT - 8, TOP + 10, "busiest SM", size=11, anchor="end", fill="#444")
    if plot.bottom - TOP > 24:
        yield svg.text(LEFT - 8, plot.bottom, "least busy", size=11, anchor="end", fill="#444")


def _split(launch: Launch, steps_per_part: int, y: float) -> Iterator[str]:
    """The longest tile along its keys, and the parts that the kernel's rule cuts it in."""
    longest = int(launch.tiles.longest)
    for at, first in enumerate(range(0, longest, steps_per_part)):
        left, width = PLOT * first / longest, PLOT * min(steps_per_part, longest - first) / longest
        yield svg.rect(LEFT + left, y, width - min(1.0, width / 4), _STRIP, _SHADES[IN_TURN[at % 2]])
    yield svg.text(LEFT - 8, y + _STRIP - 3, "longest tile", size=11, anchor="end", fill="#444")
    keys = steps_per_part * launch.keys_per_step
    said = f"{counted(longest, 'step')}, by the kernel's rule in parts of up to {keys:,} keys"
    yield svg.text(LEFT + PLOT / 2, y + _STRIP + 16, said, anchor="middle", fill="#444")


def _keys(launch: Launch, rows: Rows) -> Iterator[Key]:
    """Shades by length, the lines, and the second launch."""
    for at, (shade, (least, most)) in enumerate(sorted(rows.shades.items())):
        found = number(least) if least == most else f"{number(least)} to {number(most)}"
        yield Key(_SHADES[shade], f"{found} {'step' if most == 1 else 'steps'}" if at == 0 else found)
    for shade, words in zip(rows.in_turn, ("a tile, or part", "the next one"), strict=False):
        yield Key(_SHADES[shade], words)
    yield Key(BUSY, "busiest SM", "none")
    yield Key(MEAN, "mean SM", MEAN_DASH)
    if launch.then_s:
        yield Key(_THEN, "second launch adds up parts")


def _words(launch: Launch, rows: Rows) -> Iterator[str]:
    """What the numbers are, how tiles are split, how to read the rows, and what they do not show."""
    busiest, mean = counted(launch.tiles.busiest, "step"), number(launch.mean)
    counts = f"the time counts {busiest} on the busiest SM, and {mean} on the mean one (the lines)"
    yield f"Imbalance {launch.imbalance:.3g}: {counts}. {_drawn(launch)}"
    yield from launch.notes
    each = "SM" if rows.sms_per_row == 1 else f"SM, the busiest of {rows.sms_per_row:,} alike"
    yield f"Each row is an {each}; {_block(launch, rows)}. {_NOT}"


def _drawn(launch: Launch) -> str:
    if launch.placed is None:
        return "Tiles or SMs are too many to place one by one: rows are that SM and the mean of all others."
    if launch.tiles.order is Order.EVENLY:
        return ""
    placed = f"{counted(launch.placed.makespan, 'step')}, imbalance {launch.placed.imbalance:.3g}"
    order = (
        " in the order of the call, which the time does not follow," if launch.tiles.order is Order.IN_ORDER else ","
    )
    return f"Placed one by one{order} as drawn, the busiest has {placed}."


def _block(launch: Launch, rows: Rows) -> str:
    if launch.placed is None:
        return "a block is all its work"
    block = "its tiles, too many to see, are put together" if rows.are_merged else "a block is a tile, or its part"
    return f"{block}; {_ORDERS[launch.tiles.order]}"
