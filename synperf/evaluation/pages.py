"""Writes the tables of docs/accuracy.md and docs/measurements.md, so that no figure there is typed by hand.

    python -m synperf.evaluation.pages [--docs DIRECTORY]

Each table stands between `<!-- NAME: begin -->` and `<!-- NAME: end -->`; the text round it is left alone.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from ..errors import FileFormatError, PerfError
from ..measurements import aiconfigurator
from ..measurements.aiconfigurator import FileAudit
from .evaluate import ALL, Report, Score, evaluate

_SCORE_HEAD = ("rows", "mean", "median", "P90", "wMAPE", "bias", "coverage", "below floor", "roofline mean", "median")


def accuracy_tables(report: Report) -> dict[str, str]:
    """Tables of a report by name: totals on all rows and on the test rows, and every kernel on all rows."""
    by_kernel = [s for s in report.scores if s.engine != ALL and s.split == "all"]
    heads = ("GPU", "engine", "kernel", "format", *_SCORE_HEAD)
    return {
        "all rows": _table(("GPU", *_SCORE_HEAD), [(s.gpu, *_cells(s)) for s in report.totals("all")]),
        "test rows": _table(("GPU", *_SCORE_HEAD), [(s.gpu, *_cells(s)) for s in report.totals("test")]),
        "kernels": _table(heads, [(s.gpu, s.engine, s.kernel, s.dtype, *_cells(s)) for s in by_kernel]),
        "source": f"{report.origin} estimate of {report.family}, synperf {report.version}, rows of {report.source}.",
    }


def _cells(s: Score) -> tuple[str, ...]:
    e, r = s.estimate, s.roofline
    errors = [f"{value:.1%}" for value in (e.mape, e.median, e.p90, e.wmape)]
    shares = (f"{e.bias:+.1%}", f"{s.coverage:.1%}", f"{s.below_floor:.3%}")
    return (f"{s.rows:,}", *errors, *shares, f"{r.mape:.1%}", f"{r.median:.1%}")


def audit_tables(files: Sequence[FileAudit]) -> dict[str, str]:
    """Tables of an audit by name: every file, and rows by the reason for which they are dropped."""
    reasons: Counter[str] = Counter()
    for file in files:
        reasons.update(file.dropped)
    rows = [(f.source, f"{f.rows:,}", f"{f.kept:,}", f"{f.rows - f.kept:,}") for f in files]
    total = [f"{sum(column):,}" for column in zip(*((f.rows, f.kept, f.rows - f.kept) for f in files), strict=True)]
    return {
        "files": _table(("file", "rows", "kept", "dropped"), [*rows, ("all", *total)]),
        "reasons": _table(("why", "rows dropped"), [(why, f"{count:,}") for why, count in reasons.most_common()]),
    }


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rule = ["--" if name in ("GPU", "engine", "kernel", "format", "file", "why") else "--:" for name in head]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def filled(text: str, tables: Mapping[str, str], where: str) -> str:
    """The text with each table between its markers.

    Raises:
        FileFormatError: a table has no markers in the text.
    """
    for name, table in tables.items():
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        before, opened, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        text = f"{before}{begin}{table}\n{end}{after}"
        if not opened or not closed:
            raise FileFormatError(f"{where}: needs one pair of markers `<!-- {name}: begin -->` and `... end -->`")
    return text


def write(path: Path, tables: Mapping[str, str]) -> None:
    """Fills the tables of one page; the file is replaced whole.

    Raises:
        FileFormatError: there is no such page, or a table has no markers in it.
    """
    if not path.is_file():
        raise FileFormatError(f"{path}: no such page")
    part = path.with_name(path.name + ".part")
    part.write_text(filled(path.read_text(encoding="utf-8"), tables, str(path)), encoding="utf-8")
    part.replace(path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Evaluates and writes both pages; the exit code."""
    parser = ArgumentParser(prog="python -m synperf.evaluation.pages", description="Write the tables of the docs.")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="where the pages are")
    docs = parser.parse_args(arguments).docs
    try:
        write(docs / "measurements.md", audit_tables(aiconfigurator.audit()))
        write(docs / "accuracy.md", accuracy_tables(_evaluated()))
    except PerfError as wrong:
        print(wrong, file=sys.stderr)
        return 2
    return 0


def _evaluated() -> Report:
    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("evaluating", total=None)
        return evaluate(progress=lambda gpu, done, of: bar.update(task, description=gpu, completed=done, total=of))


if __name__ == "__main__":
    sys.exit(main())
