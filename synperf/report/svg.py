"""A small SVG writer: shapes as text, numbers with two decimals, every text escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"


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
    x: float, y: float, words: str, *, size: float = 12, anchor: str = "start", fill: str = "#222", bold: bool = False
) -> str:
    """One line of text with its baseline at `y`."""
    weight = {"font_weight": "600"} if bold else {}
    return element("text", escape(words), x=x, y=y, font_size=size, text_anchor=anchor, fill=fill, **weight)


def document(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    """A drawing on white that scales with its page; the title is what a screen reader says."""
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONT}" role="img">'
    return "\n".join([head, f"<title>{escape(title)}</title>", rect(0, 0, width, height, "#fff"), *parts, "</svg>", ""])
