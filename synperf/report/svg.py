"""A small SVG writer: shapes as text, numbers with two decimals, every text escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from textwrap import wrap

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
_EM = {
    False: 0.58,
    True: 0.64,
}  # width of a character over the font size, plain and bold: DejaVu Sans, the widest, on average


def element(tag: str, content: str | None = None, /, **attributes: float | str) -> str:
    """One element; `stroke_width=2` becomes `stroke-width="2"`, and content is taken as markup."""
    given = "".join(f' {name.replace("_", "-")}="{_value(value)}"' for name, value in attributes.items())
    return f"<{tag}{given}/>" if content is None else f"<{tag}{given}>{content}</{tag}>"


def _value(value: float | str) -> str:
    return escape(value) if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def rect(x: float, y: float, width: float, height: float, fill: str, **attributes: float | str) -> str:
    """A filled rectangle."""
    return element("rect", x=x, y=y, width=width, height=height, fill=fill, **attributes)


def text(
    x: float,
    y: float,
    words: str,
    *,
    size: float = 12,
    anchor: str = "start",
    fill: str = "#222",
    bold: bool = False,
    **attributes: float | str,
) -> str:
    """One line of text with its baseline at `y`."""
    weight = {"font_weight": "600"} if bold else {}
    return element(
        "text", escape(words), x=x, y=y, font_size=size, text_anchor=anchor, fill=fill, **weight, **attributes
    )


def width_of(words: str, size: float = 12, *, bold: bool = False) -> float:
    """About how wide a line is, rather too much than too little."""
    return len(words) * size * _EM[bold]


def clipped(words: str, room: float, size: float = 12, *, bold: bool = False) -> str:
    """As much of a line as fits, with `...` for the rest."""
    most = int(room / (size * _EM[bold]))
    return words if len(words) <= most else f"{words[: most - 3].rstrip()}..."


def wrapped(words: str, room: float, size: float = 12) -> list[str]:
    """A sentence as lines that fit."""
    return wrap(words, int(room / (size * _EM[False])))


def path(outline: str, fill: str) -> str:
    """A filled path."""
    return element("path", d=outline, fill=fill)


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, **attributes: float | str) -> str:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, stroke_width=1.5, **attributes)


def document(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    """A drawing on white that scales with its page; the title is what a screen reader says."""
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONT}" role="img">'
    return "\n".join([head, f"<title>{escape(title)}</title>", rect(0, 0, width, height, "#fff"), *parts, "</svg>", ""])
