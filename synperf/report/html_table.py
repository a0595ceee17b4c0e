"""A table of values as HTML: every cell holds the value itself beside the text, by which the page sorts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import msgspec

from .svg import element
from .text import counted
from .trace_columns import Column, Table


def html_table(of: Table, most: int, head: str = "", pictures: Sequence[str] = ()) -> str:
    """The first rows, with a column of pictures of them under `head` if there are some; what is left out is counted."""
    heads = "".join(map(_head, of.columns)) + (element("th", escape(head)) if pictures else "")
    body = "".join(_row(of, place, pictures[place : place + 1]) for place in range(min(len(of.rows), most)))
    table = element("table", element("thead", element("tr", heads)) + element("tbody", body), id=of.key)
    left = len(of.rows) - most
    more = f" {counted(left, 'row')} more in the JSON of this page." if left > 0 else ""
    note = element("p", escape(of.note + more), **{"class": "note"}) if of.note or more else ""
    return element("div", table, **{"class": "scroll"}) + note


def _head(column: Column) -> str:
    button = element("button", escape(column.head), type="button")
    return element("th", button, scope="col", **_class(column))


def _row(of: Table, place: int, pictures: Sequence[str]) -> str:
    cells = [_cell(column, value) for column, value in zip(of.columns, of.rows[place], strict=True)]
    drawn = [element("td", picture, **{"class": "picture"}) for picture in pictures]
    return element("tr", "".join([*cells, *drawn]))


def _cell(column: Column, value: Any) -> str:
    text = escape(column.show(value))
    shown = element("span", text) if column.is_name else text
    return element("td", shown, data_value=json_value(value), **_class(column))


def json_value(value: Any) -> str:
    """The value of a cell as its JSON has it."""
    return msgspec.json.encode(value).decode()


def _class(column: Column) -> dict[str, str]:
    kind = "name" if column.is_name else "number" if column.is_number else ""
    return {"class": kind} if kind else {}
