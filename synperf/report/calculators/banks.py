"""Which banks of shared memory lanes meet in, as text, as JSON and drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from ...calculators.lanes.banked import Banks, turns
from ...units import format_percent
from ..charts import cells
from ..text import counted, labelled, paragraphs, sentences

_MOST_DRAWN = 32
_ACROSS = 16  # banks on a line of text


def to_dict(found: Banks) -> dict[str, Any]:
    """Every field."""
    return asdict(found)


def to_text(found: Banks) -> str:
    """Counts, the words of each bank, and why."""
    head = "no bank conflict" if not found.extra_wavefronts else f"{found.degree}-way bank conflict"
    each = f", {found.wavefronts / found.requests:.4g} for each of {found.requests:,} requests"
    width = counted(found.access_bytes, "byte")
    lines = [
        ("access", f"{counted(found.active_lanes, 'lane')} of {width}{'' if found.aligned else ', misaligned'}"),
        ("degree", str(found.degree)),
        ("wavefronts", f"{found.wavefronts:,}{each if found.requests > 1 else ''}"),
        (
            "minimum",
            f"{found.minimum_wavefronts:,} for accesses of this width, so {found.extra_wavefronts:,} are extra",
        ),
        ("slowdown", f"{found.slowdown:.4g}, {format_percent(1 / found.slowdown, 4)} of the bandwidth"),
    ]
    return paragraphs(
        f"{head}: {counted(found.wavefronts, 'wavefront')} where {found.minimum_wavefronts:,} would do"
        if found.extra_wavefronts
        else f"{head}: {counted(found.wavefronts, 'wavefront')}, which is the minimum",
        labelled(lines),
        "\n".join(_histogram(found)),
        sentences("why", found.why),
        sentences("advice", found.advice),
    )


def _histogram(found: Banks) -> Iterator[str]:
    """Different words of each bank in the worst phase."""
    wide = max(2, len(str(found.degree)))
    for first in range(0, found.num_banks, _ACROSS):
        counts = found.histogram[first : first + _ACROSS]
        shown = " ".join((str(count) if count else ".").rjust(wide) for count in counts)
        yield f"{f'banks {first} to {first + len(counts) - 1}':15}{shown}"


def to_svg(found: Banks) -> str:
    """A row for each wavefront of the first request, a column for each bank: the lanes that it answers."""
    rows = list(_wavefronts(found))
    more = [f"{counted(len(rows) - _MOST_DRAWN, 'wavefront')} more are not drawn."] if len(rows) > _MOST_DRAWN else []
    title = f"{counted(found.wavefronts, 'wavefront')}, {found.minimum_wavefronts:,} would do; {found.degree}-way"
    heads = [str(bank) for bank in range(found.num_banks)]
    kinds = ("answers this lane", "answers several lanes that access one word")
    return cells.draw(title, kinds, rows[:_MOST_DRAWN], heads, words=(*more, *found.why, *found.advice))


def _wavefronts(found: Banks) -> Iterator[tuple[str, Sequence[cells.Cell]]]:
    words = turns(found)
    phases = sorted({phase for phase, _ in words})
    for phase in phases:
        of_banks = [words.get((phase, bank), []) for bank in range(found.num_banks)]
        for turn in range(max(map(len, of_banks))):
            name = f"turn {turn + 1}" if len(phases) == 1 else f"phase {phase + 1}, turn {turn + 1}"
            yield name, [_cell(one[turn][1]) if turn < len(one) else cells.Cell() for one in of_banks]


def _cell(lanes: Sequence[int]) -> cells.Cell:
    return cells.Cell(str(lanes[0]) if len(lanes) == 1 else f"{lanes[0]}+", 0 if len(lanes) == 1 else 1)
