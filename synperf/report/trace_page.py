"""Where the time of a trace went, as one page of HTML that needs nothing else: no network, no other file.

The verdict and what is doubtful come first, then five numbers and the findings, then the evidence. The JSON document of
`analyze --json` is in the page, and every number on it is a value of it or a sum over its devices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from html import escape
from pathlib import Path

import msgspec

from ..analysis.whole import Analysis
from ..version import VERSION
from . import trace_figures as figures
from . import trace_tables as tables
from . import trace_work_tables as work_tables
from .analysis import to_dict
from .html_table import html_table, json_value, prose
from .svg import element, rect
from .trace_columns import Table, share, time
from .trace_lines import caution, five, head, loader, memory_caption, titled, unseen, verdict

_FOLDER = Path(__file__).parent
_ROWS = 100  # of a table on the page; the rest is in its JSON
_DEVICES = 16  # that have a timeline
_LABELS = 5  # under a timeline
_TITLE = "Where the time went"
_READING_MEMORY = (
    "What the framework's allocator had handed out: the most of each slice of the time between its first and its last"
    " change. The mark is the peak."
)
_READING = (
    "Each column is a slice of the device's span, and as high as the share of it in which the device was busy. The"
    " strip below is the steps on the host's clock, slow ones in red. A kernel that does little work is busy too."
)


def to_html(found: Analysis) -> str:
    """The page."""
    sections = list(_sections(found))
    links = "".join(element("a", escape(title), href=f"#{key}-section") for key, title, _ in sections)
    body = [
        _header(found),
        element("p", prose(verdict(found)), **{"class": "verdict"}),
        _doubtful(found),
        _five(found),
        _split(found),
        element("nav", links, aria_label="sections"),
        *(_section(key, title, content) for key, title, content in sections),
        element("footer", element("p", f"synperf {VERSION}; this file is complete in itself", **{"class": "soft"})),
        element("script", _embedded(found), type="application/json", id="analysis"),
        element("script", _part("trace_page.js")),
    ]
    return f"<!doctype html>\n{element('html', _head(found) + element('body', ''.join(body)), lang='en')}\n"


def _head(found: Analysis) -> str:
    title = f"{_TITLE}: {', '.join(one.file for one in found.sources[:1])}"
    parts = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", escape(title)),
        element("style", _part("trace_page.css")),
    ]
    return element("head", "".join(parts))


def _part(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _embedded(found: Analysis) -> str:
    """The document; no name in it can end the element that holds it."""
    return msgspec.json.encode(to_dict(found)).decode().replace("<", "\\u003c")


def _header(found: Analysis) -> str:
    files = [element("p", escape(head(one)), **{"class": "soft"}) for one in found.sources]
    folded = element("details", element("summary", f"{len(files) - 1} more") + "".join(files[1:])) if files[1:] else ""
    words = element("h1", _TITLE) + "".join(files[:1]) + folded
    return element("header", element("div", words) + element("button", "", id="theme", type="button", hidden="hidden"))


def _doubtful(found: Analysis) -> str:
    """Warnings, and what could not be looked at."""
    lists = {"Warnings": list(map(caution, found.cautions)), "Could not look": list(map(unseen, found.unseen))}
    shown = [element("h3", title) + _list(lines) for title, lines in lists.items() if lines]
    return element("div", "".join(shown), **{"class": "warnings"}) if shown else ""


def _list(lines: Iterable[str]) -> str:
    return element("ul", "".join(element("li", prose(line)) for line in lines))


def _five(found: Analysis) -> str:
    """Total, compute, idle, exposed communication and the top category."""
    cells = []
    for one in five(found):
        number = element("dd", escape(one.shown), data_value=json_value(one.value_ns), data_name=one.name)
        word = element("dd", prose(one.word), **{"class": "word"})
        cells.append(element("div", element("dt", one.name) + number + word))
    return element("dl", "".join(cells), **{"class": "five"})


def _split(found: Analysis) -> str:
    """The time of all devices as one bar, with what its colours are."""
    parts = [sum(values) for values in zip(*map(figures.parts, found.overlaps), strict=True)]
    return element("figure", figures.split(parts) + _legend(), **{"class": "split"}) if any(parts) else ""


def _section(key: str, title: str, content: str) -> str:
    return element("section", element("h2", escape(title)) + content, id=f"{key}-section")


def _sections(found: Analysis) -> Iterator[tuple[str, str, str]]:
    """Key, title and content of each that has any."""
    if found.findings:
        yield "findings", "Findings", _findings(found)
    if found.timelines:
        yield "timeline", "Timeline of utilisation", _timelines(found)
    yield from _tables(found, tables.times)
    yield from _with_pictures(found)
    yield from _tables(found, tables.imbalance, work_tables.causes, tables.kernels, work_tables.operators)
    yield from _tables(found, work_tables.geometry, tables.launches, tables.copies, tables.loaders, tables.waits)
    if found.memory:
        yield "memory", "Memory", _memory(found)
    yield from _tables(found, work_tables.checks, work_tables.gpus)


def _tables(found: Analysis, *make: Callable[[Analysis], Table]) -> Iterator[tuple[str, str, str]]:
    """Those that have rows."""
    for table in (one(found) for one in make):
        if table.rows:
            yield table.key, table.title, html_table(table, _ROWS)


def _with_pictures(found: Analysis) -> Iterator[tuple[str, str, str]]:
    families = tables.families(found)
    if families.rows:
        bars = [figures.bar(share or 0) for _, _, _, share in families.rows]
        yield families.key, families.title, html_table(families, _ROWS, "", bars)
    idle, gaps = tables.idle(found), tables.gaps(found)
    if idle.rows:
        whole = sum(total for _, _, total, _ in idle.rows)
        drawn = html_table(idle, _ROWS, "", [figures.bar(total / whole) for _, _, total, _ in idle.rows])
        yield idle.key, idle.title, drawn + _below(gaps, html_table(gaps, _ROWS))
    if found.steps:
        yield "steps", "Steps", _steps(found)
    if found.across is not None:
        yield "collectives", "Collectives across ranks", _collectives(found)


def _below(of: Table, content: str) -> str:
    """A second table of a section."""
    return element("h3", escape(of.title)) + content if of.rows else ""


def _findings(found: Analysis) -> str:
    items = [
        element("li", element("h3", prose(titled(one, found))) + "".join(map(_paragraph, (one.evidence, one.advice))))
        for one in found.findings
    ]
    return element("ol", "".join(items), **{"class": "findings"})


def _paragraph(text: str) -> str:
    return element("p", prose(text))


def _timelines(found: Analysis) -> str:
    steps = {one.rank: one.steps for one in found.steps}
    parts = [_legend()]
    for device, line in list(zip(found.overlaps, found.timelines, strict=True))[:_DEVICES]:
        rank = "" if device.rank is None else f"rank {device.rank}, "
        label = f"{rank}device {device.device}, idle {share(device.idle_ns / max(device.span_ns, 1))}"
        over = figures.steps_over(device, steps[device.rank]) if device.rank in steps else ""
        parts.append(_figure(label, figures.utilisation(line) + over, device.span_ns))
    left = len(found.timelines) - _DEVICES
    more = f" {left} more devices are in the JSON of this page." if left > 0 else ""
    return "".join(parts) + element("p", _READING + more, **{"class": "note"})


def _figure(label: str, drawn: str, span_ns: int) -> str:
    """A picture over a time, with its caption and an axis that begins at 0."""
    ticks = (span_ns * place // (_LABELS - 1) for place in range(_LABELS))
    axis = element("div", "".join(element("span", time(at)) for at in ticks), **{"class": "axis"})
    return element("figure", element("figcaption", escape(label)) + drawn + axis)


def _memory(found: Analysis) -> str:
    """What was handed out over time, then the peaks and who holds them."""
    drawn = [
        _figure(memory_caption(one), figures.memory_line(one), one.end_ns - one.start_ns)
        for one in found.memory[:_DEVICES]
    ]
    peaks, holders = work_tables.memory(found), work_tables.holders(found)
    note = element("p", _READING_MEMORY, **{"class": "note"})
    return "".join(drawn) + note + html_table(peaks, _ROWS) + _below(holders, html_table(holders, _ROWS))


def _legend() -> str:
    keys = [
        element("li", element("svg", rect(0, 0, 10, 10, colour), viewBox="0 0 10 10") + escape(name))
        for name, colour in figures.COLOURS.items()
    ]
    return element("ul", "".join(keys), **{"class": "legend"})


def _steps(found: Analysis) -> str:
    whole, each = tables.step_times(found), tables.steps(found)
    steps = [step for one in found.steps for step in one.steps]
    longest = max(step.dur_ns for step in steps)
    bars = [figures.step_bar(step, longest) for step in steps[:_ROWS]]
    drawn = html_table(each, _ROWS, "computing, busy, in all", bars)
    waits = loader(found)
    return html_table(whole, _ROWS) + (element("p", prose(waits)) if waits else "") + drawn


def _collectives(found: Analysis) -> str:
    assert found.across is not None
    late, each = tables.late(found), tables.collectives(found)
    made = found.across.collectives
    longest = max((one.spread_ns for one in made), default=0)
    drawn = html_table(
        each, _ROWS, "arrivals, the last one in red", [figures.arrivals(one, longest) for one in made[:_ROWS]]
    )
    return _below(late, html_table(late, _ROWS)) + _below(each, drawn)
