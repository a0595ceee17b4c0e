"""Which sectors and lines the lanes of a warp touch, as text, as JSON and drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from ...calculators.lanes.blocks import LINE, SECTOR
from ...calculators.lanes.coalesced import Coalescing
from ...units import format_binary, format_percent
from ..charts import cells
from ..text import counted, labelled, paragraphs, sentences

_WORD = 4  # bytes of a cell
_MOST_LINES, _MOST_DRAWN = 8, 32
_USED, _MOVED = 0, 1
_KINDS = ("asked for, with the lane", "moves, and nobody asked for it")


def to_dict(found: Coalescing) -> dict[str, Any]:
    """Every field."""
    return asdict(found)


def to_text(found: Coalescing) -> str:
    """Counts, the sectors of the first request, and why."""
    kind = "store" if found.is_store else "load"
    lines = [
        ("access", f"{kind} of {counted(found.access_bytes, 'byte')} a lane{'' if found.aligned else ', misaligned'}"),
        ("sectors", _count(found.sectors, found.sectors_per_request, found.unique_sectors, found)),
        ("lines", _count(found.lines, found.lines_per_request, found.unique_lines, found)),
        ("moves", f"{found.bytes_moved:,} bytes for {found.distinct_bytes:,} that are asked for"),
        (
            "efficiency",
            f"{format_percent(found.sector_efficiency)} of sectors of {SECTOR} bytes, "
            f"{format_percent(found.line_efficiency, 4)} of lines of {LINE}",
        ),
        ("DRAM", f"{format_binary(found.dram_bytes)} in blocks of {found.fetch_bytes} bytes, if L2 has none of them"),
    ]
    head = f"{counted(found.sectors_per_request, 'sector')} a request, {format_percent(found.efficiency)} used"
    return paragraphs(
        f"{found.verdict}: {head}",
        labelled(lines),
        "\n".join(_picture(found)),
        sentences("why", found.why),
        sentences("advice", found.advice),
    )


def _count(total: int, mean: float, unique: int, found: Coalescing) -> str:
    if found.requests == 1:
        return f"{total:,}"
    return f"{total:,} of {counted(found.requests, 'request')}, {mean:.4g} each; {unique:,} different ones"


def _picture(found: Coalescing) -> Iterator[str]:
    """A line of memory on each line: `#` for 4 bytes that are asked for, `.` for 4 that move with them."""
    used = _lanes_of_words(found)
    places = _touched_lines(found)
    for line in places[:_MOST_LINES]:
        sectors = (_sector(used, line * LINE + at) for at in range(0, LINE, SECTOR))
        yield f"{f'{line * LINE:#x}':>10}  {' '.join(sectors)}".rstrip()
    if len(places) > _MOST_LINES:
        yield f"{'':>10}  and {counted(len(places) - _MOST_LINES, 'line')} more"


def _sector(used: dict[int, list[int]], start: int) -> str:
    marks = ["#" if start + at in used else "." for at in range(0, SECTOR, _WORD)]
    return "".join(marks) if "#" in marks else " " * len(marks)


def _lanes_of_words(found: Coalescing) -> dict[int, list[int]]:
    """Lanes of the first request by the word that they access, its first byte."""
    words: dict[int, list[int]] = {}
    for address, lane in zip(found.addresses, found.lanes, strict=True):
        for word in range(address // _WORD * _WORD, address + found.access_bytes, _WORD):
            words.setdefault(word, []).append(lane)
    return words


def _touched_lines(found: Coalescing) -> list[int]:
    return sorted({word // LINE for word in _lanes_of_words(found)})


def to_svg(found: Coalescing) -> str:
    """A row for each line of the first request, a cell for each 4 bytes of it."""
    used, places = _lanes_of_words(found), _touched_lines(found)
    shown = places[:_MOST_DRAWN]
    rows = [(f"{line * LINE:#x}", [_cell(used, line * LINE + at) for at in range(0, LINE, _WORD)]) for line in shown]
    heads = [f"+{at}" if at % SECTOR == 0 else "" for at in range(0, LINE, _WORD)]
    more = [f"{counted(len(places) - len(shown), 'line')} more are not drawn."] if len(places) > len(shown) else []
    title = f"One request: {counted(found.sectors_per_request, 'sector')}, {format_percent(found.efficiency)} used"
    return cells.draw(title, _KINDS, rows, heads, words=(*more, *found.why, *found.advice))


def _cell(used: dict[int, list[int]], word: int) -> cells.Cell:
    sector = word // SECTOR * SECTOR
    if word in used:
        return cells.Cell(_named(used[word]), _USED)
    moved = any(at in used for at in range(sector, sector + SECTOR, _WORD))
    return cells.Cell("", _MOVED if moved else None)


def _named(lanes: Sequence[int]) -> str:
    return str(lanes[0]) if len(lanes) == 1 else f"{lanes[0]}+"
