"""The files that `synperf analyze` writes beside what it prints: all of them whole, or none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import field
from pathlib import Path

from ..analysis import Analysis
from ..errors import FieldError
from ..light_classes import dataclass
from ..report.perfetto import Part
from ..report.perfetto import write as write_perfetto
from ..tables import outfile
from ..traces.events import Trace
from ..units import parse_quantity

_NS = 1e9  # in a second


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Where each goes, if it is asked for; `part` is what the Perfetto trace has."""

    html: Path | None = None
    markdown: Path | None = None
    csv: Path | None = None
    perfetto: Path | None = None
    part: Part = field(default_factory=Part)
    is_redacted: bool = False

    def check(self, traces: Sequence[Path]) -> None:
        """Checks, before anything is read, that every file can be written and is none of the traces.

        Raises:
            FieldError: one cannot, or is.
        """
        for option, path in (("html", self.html), ("markdown", self.markdown), ("perfetto", self.perfetto)):
            if path is None:
                continue
            for trace in traces:
                if path.exists() and trace.exists() and path.samefile(trace):
                    raise FieldError(f"{option}: {str(path)!r} is a trace that is read; name another")
            outfile.require_place(option, path)
        if self.perfetto is None and self.part != Part():
            raise FieldError("slice, rank, stream: they choose what --perfetto FILE has; right would be with it")

    def require_none(self, path: Path) -> None:
        """Checks that nothing of it is asked for, of what is no timeline.

        Raises:
            FieldError: something is.
        """
        asked = {
            "html": self.html, "markdown": self.markdown, "csv": self.csv, "perfetto": self.perfetto,
            "redact": self.is_redacted,
        }  # fmt: skip
        found = next((option for option, value in asked.items() if value), None)
        if found is not None:
            raise FieldError(
                f"{found}: {path.name} is no timeline, and is text or --json only; right would be without it"
            )

    @contextmanager
    def written(self, traces: Sequence[Trace], found: Analysis) -> Iterator[None]:
        """Writes all files, which get their names when the block is done."""
        with ExitStack() as stack:
            for option, path, render in (("html", self.html, _html), ("markdown", self.markdown, _markdown)):
                if path is not None:
                    outfile.write_text(stack.enter_context(outfile.replacing(option, path)), render(found))
            if self.csv is not None:
                from ..report.trace_csv import to_csv  # as the others below: slow to import, and seldom asked for

                folder = stack.enter_context(outfile.replacing_folder("csv", self.csv))
                for name, text in to_csv(found).items():
                    outfile.write_text(folder / name, text)
            if self.perfetto is not None:
                part = stack.enter_context(outfile.replacing("perfetto", self.perfetto))
                self._write_perfetto(part, traces, found)
            yield

    def _write_perfetto(self, path: Path, traces: Sequence[Trace], found: Analysis) -> None:
        from ..report.redact import pseudonym

        naming = pseudonym if self.is_redacted else str
        if not write_perfetto(path, traces, found, self.part, naming) and self.part != Part():
            raise FieldError("slice, rank, stream: no event of the trace is in it; right would be a part that has some")


def _html(found: Analysis) -> str:
    from ..report.trace_page import to_html

    return to_html(found)


def _markdown(found: Analysis) -> str:
    from ..report.trace_markdown import to_markdown

    return to_markdown(found)


def part_of(window: str | None, ranks: Sequence[int], streams: Sequence[int]) -> Part:
    """The part that options choose; a window is `10ms..25ms`, from the first GPU event, and either end may be left out.

    Raises:
        FieldError: the window is none.
    """
    start, end = (None, None) if window is None else _window(window)
    return Part(start_ns=start, end_ns=end, ranks=tuple(ranks), streams=tuple(streams))


def _window(text: str) -> tuple[int | None, int | None]:
    first, dots, last = text.partition("..")
    right = "right would be START..END from the first GPU event, such as 10ms..25ms"
    if not dots:
        raise FieldError(f"slice: {text[:40]!r} is no window; {right}")
    try:
        start, end = (round(parse_quantity(one, "s") * _NS) if one.strip() else None for one in (first, last))
    except FieldError as wrong:
        raise FieldError(f"slice: {wrong}; {right}") from None
    if start is not None and end is not None and start >= end:
        raise FieldError(f"slice: {text[:40]!r} ends before it begins; {right}")
    return start, end
