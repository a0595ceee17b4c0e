"""A table of values as HTML: every cell holds the value itself beside the text, by which the page sorts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

import msgspec

from .svg import element
from .text import counted
from .trace_columns import Column, Table

_CODE = re.compile(r"`([^`]+)`")
_SHORT = 24  # letters of a text that is not broken into lines
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=%|[nµm]?s\b|[kMGTP]?B\b)")


def prose(text: str) -> str:
    """A sentence as markup: what stands between backticks is code, and no line ends between a number and its unit."""
    return _CODE.sub(lambda match: element("code", match[1]), _BEFORE_UNIT.sub("&nbsp;", escape(text)))


def html_table(of: Table, most: int, head: str = "", pictures: Sequence[str] = ()) -> str:
    """The first rows, with pictures of them under `head` after their numbers if there are some; the rest is counted."""
    of = of.filled()
    classes = [_class(column, of.shown(most), at) for at, column in enumerate(of.columns)]
    heads = [_head(column, kind) for column, kind in zip(of.columns, classes, strict=True)]
    rows = [list(map(_cell, of.columns, row, classes)) for row in of.rows[:most]]
    if pictures:
        place = 1 + max(at for at, column in enumerate(of.columns) if column.is_number)
        heads.insert(place, element("th", escape(head), **{"class": "picture"}))
        for row, picture in zip(rows, pictures, strict=True):
            row.insert(place, element("td", picture, **{"class": "picture"}))
    body = "".join(element("tr", "".join(row)) for row in rows)
    table = element("table", element("thead", element("tr", "".join(heads))) + element("tbody", body), id=of.key)
    left = len(of.rows) - most
    more = f" {counted(left, 'row')} more in the JSON of this page." if left > 0 else ""
    note = element("p", prose(of.note + more), **{"class": "note"}) if of.note or more else ""
    return element("div", table, **{"class": "scroll"}) + note


def _class(column: Column, shown: Sequence[Sequence[str]], at: int) -> str:
    """Names may be cut where room is short, sentences get the room for their words, anything else stays on its line."""
    if column.is_name:
        return "name"
    if column.is_number:
        return "number"
    return "long" if any(len(row[at]) > _SHORT for row in shown) else "short"


def _head(column: Column, kind: str) -> str:
    return element("th", element("button", escape(column.head), type="button"), scope="col", **{"class": kind})


def _cell(column: Column, value: Any, kind: str) -> str:
    text = column.show(value)
    shown = element("span", escape(text)) if column.is_name else prose(text)
    return element("td", shown, data_value=json_value(value), **{"class": kind})


def json_value(value: Any) -> str:
    """The value of a cell as its JSON has it."""
    return msgspec.json.encode(value).decode()
