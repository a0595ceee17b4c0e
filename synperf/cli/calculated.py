"""The answer of a calculator on standard output, and drawn where that is asked for."""

from __future__ import annotations

from typing import Any, Protocol

from .drawn import print_and_draw
from .show import text_of


class Report(Protocol):
    """A module of `report/calculators/`."""

    def to_dict(self, found: Any, /) -> dict[str, Any]: ...

    def to_text(self, found: Any, /) -> str: ...

    def to_svg(self, found: Any, /) -> str: ...


def show_drawn(found: Any, report: Report, as_json: bool, svg: str | None) -> None:
    """Prints the answer as text or JSON, and writes its drawing to `svg`.

    Raises:
        FieldError: `svg` is no place for a file.
    """
    print_and_draw(
        text_of(as_json, lambda: report.to_dict(found), lambda: report.to_text(found)),
        svg,
        lambda: report.to_svg(found),
    )
