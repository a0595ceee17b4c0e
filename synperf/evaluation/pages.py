"""Writes the tables of docs/accuracy.md, believe.md and measurements.md, so that no figure there is typed by hand.

    python -m synperf.evaluation.pages [--docs DIRECTORY] [--origin NAME ...] [--comparison FILE ...]

`--comparison` names what `synperf evaluate --split ... --out FILE` has written: those fits take hours, and need torch.
Its tables are named after the split, or after the split and `--rows-per-group` where a page has a place for that.
Each table stands between `<!-- NAME: begin -->` and `<!-- NAME: end -->`; the text round it is left alone.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from rich.console import Console
from rich.progress import Progress

from ..errors import FileFormatError, PerfError
from ..estimators.weights import Card, shipped
from ..measurements import aiconfigurator
from ..measurements.aiconfigurator import FileAudit
from .evaluate import ALL, BEST, TEST, Report, Score, evaluate
from .regimes import MEANT
from .results import Comparison, Mean
from .state import read

_SCORE_HEAD = (
    "rows", "mean", "median", "P90", "wMAPE", "bias", "coverage", "half-width", "below floor",
    "roofline mean", "median",
)  # fmt: skip
_KERNEL_HEAD = ("GPU", "engine", "kernel", "format")
_TEXTS = ("GPU", "engine", "kernel", "format", "file", "why", "recipe", "regime", "cell", "left out")
_WORST = 20
_PAGES = ("accuracy.md", "believe.md")


def accuracy_tables(report: Report, name: str) -> dict[str, str]:
    """Tables of a report, named after it: totals on test rows and all rows, formats, kernels, worst cells, regimes."""
    by_kernel = {split: [s for s in report.scores if s.engine != ALL and s.split == split] for split in (ALL, TEST)}
    worst = sorted(by_kernel[TEST], key=lambda s: -s.estimate.mape)[:_WORST]
    return {
        f"{name}: test rows": _table(("GPU", *_SCORE_HEAD), [(s.gpu, *_cells(s)) for s in report.totals(TEST)]),
        f"{name}: all rows": _table(("GPU", *_SCORE_HEAD), [(s.gpu, *_cells(s)) for s in report.totals(ALL)]),
        f"{name}: formats": _table(("format", *_SCORE_HEAD), [(s.dtype, *_cells(s)) for s in report.by_dtype(TEST)]),
        f"{name}: kernels": _table((*_KERNEL_HEAD, *_SCORE_HEAD), map(_kernel, by_kernel[TEST])),
        f"{name}: worst": _table((*_KERNEL_HEAD, *_SCORE_HEAD), map(_kernel, worst)),
        f"{name}: regimes": _regimes(report),
        f"{name}: source": f"{report.origin} estimate of {report.family}, synperf {report.version}, {report.source}.",
    }


def _kernel(s: Score) -> tuple[str, ...]:
    return s.gpu, s.engine, s.kernel, s.dtype, *_cells(s)


def _cells(s: Score) -> tuple[str, ...]:
    e, r = s.estimate, s.roofline
    errors = [f"{value:.1%}" for value in (e.mape, e.median, e.p90, e.wmape)]
    over = f" ({s.width_over_median:.1f}x)" if s.width_over_median is not None else ""
    shares = (f"{e.bias:+.1%}", f"{s.coverage:.1%}", f"{s.width:.1%}{over}", f"{s.below_floor:.3%}")
    return (f"{s.rows:,}", *errors, *shares, f"{r.mape:.1%}", f"{r.median:.1%}")


def _regimes(report: Report) -> str:
    """Every regime of the test rows, and the cells whose intervals do not hold what they should."""
    found, cells = report.regimes_of(TEST), report.regimes_of(TEST, cells=True)
    wrong = [r for r in cells if not r.is_as_meant]
    said = f"{len(wrong)} of {len(cells)} cells are outside {MEANT[0]:.0%} to {MEANT[1]:.0%}; the farthest:"
    ends = wrong if len(wrong) <= _WORST else [*wrong[: _WORST // 2], *wrong[-_WORST // 2 :]]
    tables = [
        _table(
            (name, "rows", "shapes", "coverage"),
            [(r.name, f"{r.rows:,}", f"{r.shapes:,}", f"{r.coverage:.1%}") for r in rows],
        )
        for name, rows in (("regime", found), ("cell", ends))
    ]
    return f"{tables[0]}\n\n{said}\n\n{tables[1]}"


def comparison_tables(found: Comparison, name: str) -> dict[str, str]:
    """Tables of a comparison, named after it: means of the recipes, errors on every GPU, and what was compared."""
    means, s = found.means(), found.settings
    gpus = sorted({r.gpu for r in found.results if r.part == found.part()} - {ALL})
    by_gpu = [(gpu, *(f"{_on(found, mean, gpu):.1%}" for mean in means)) for gpu in gpus]
    cases = [(case, *(f"{_on(found, mean, ALL, case):.1%}" for mean in means)) for case in found.cases()]
    names = [_recipe(mean) for mean in means]
    harm = found.worst_harm()
    said = f" Few-shot minus zero-shot at its worst: {100 * harm:+.2f} points." if harm is not None else ""
    return {
        name: _table(
            ("recipe", "mean", "median", "P90", "wMAPE", "bias", "worst case", "fit", "1000 rows"), map(_mean, means)
        ),
        f"{name}: GPUs": _table(("GPU", *names), by_gpu),
        f"{name}: cases": _table(("left out", *names), cases),
        f"{name}: source": f"synperf {s.version}, rows of {s.source}, {' '.join(s.dtypes) or 'every format'}, at most "
        f"{s.rows_per_group:,} of each group, seed {s.seed}.{said}",
    }


def comparison_names(found: Comparison) -> tuple[str, str]:
    """What the tables of a comparison may be called, the narrower name first: `new-shape, 150 rows`, `new-shape`."""
    s = found.settings
    return f"{s.split}, {s.rows_per_group} rows", s.split


def _mean(mean: Mean) -> tuple[str, ...]:
    e = mean.errors
    errors = [f"{value:.1%}" for value in (e.mape, e.median, e.p90, e.wmape)]
    times = (f"{mean.fit_s:.1f} s", f"{mean.predict_s_per_1000 * 1e3:.1f} ms")
    return (_recipe(mean), *errors, f"{e.bias:+.1%}", f"{mean.worst:.1%}", *times)


def _recipe(mean: Mean) -> str:
    return f"{mean.recipe}, {mean.variant}" if mean.variant else mean.recipe


def _on(found: Comparison, mean: Mean, gpu: str, case: str | None = None) -> float:
    return fmean(r.errors.mape for r in found.of(mean.recipe, mean.variant, gpu=gpu, case=case))


def card_tables(card: Card) -> dict[str, str]:
    """Tables of a card: what networks err on GPUs that were left out, and the share within the intervals of others."""
    rows = [
        (dtype, case, f"{int(found['rows']):,}", *(f"{found[name]:.1%}" for name in ("mape", "median", "coverage")))
        for network in card.networks
        for dtype in network.dtypes
        for case, found in network.left_out.items()
    ]
    return {"card: left out": _table(("format", "left out", "rows", "mean", "median", "coverage"), rows)}


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
    rule = ["--" if name in _TEXTS else "--:" for name in head]
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
    """Evaluates, reads the comparisons and writes both pages; the exit code."""
    parser = ArgumentParser(prog="python -m synperf.evaluation.pages", description="Write the tables of the docs.")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="where the pages are")
    parser.add_argument("--origin", nargs="*", default=["best", "measured", "analytical"], help="estimators to score")
    parser.add_argument("--comparison", nargs="*", type=Path, default=[], help="files of `synperf evaluate --out`")
    given = parser.parse_args(arguments)
    try:
        if given.origin:
            write(given.docs / "measurements.md", audit_tables(aiconfigurator.audit()))
        for path in given.comparison:
            _write_comparison(given.docs, read(path))
        for origin in given.origin:
            card = shipped("gemm") if origin == BEST else None
            extra = {} if card is None else card_tables(card.card)
            _write_known(given.docs, accuracy_tables(_evaluated(origin), origin) | extra)
    except PerfError as wrong:
        print(wrong, file=sys.stderr)
        return 2
    return 0


def _write_comparison(docs: Path, found: Comparison) -> None:
    """Fills the tables of a comparison under the narrower of its names that a page has a place for."""
    pages = "".join(path.read_text(encoding="utf-8") for path in (docs / name for name in _PAGES) if path.is_file())
    narrow, wide = comparison_names(found)
    _write_known(docs, comparison_tables(found, narrow if f"<!-- {narrow}: begin -->" in pages else wide))


def _write_known(docs: Path, tables: Mapping[str, str]) -> None:
    """Fills those tables that a page has a place for.

    Raises:
        FileFormatError: no page has a place for any.
    """
    written = 0
    for path in (docs / name for name in _PAGES):
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        known = {name: table for name, table in tables.items() if f"<!-- {name}: begin -->" in text}
        if known:
            write(path, known)
        written += len(known)
    if not written:
        raise FileFormatError(f"{docs}: no page has a place for any of {', '.join(tables)}")


def _evaluated(origin: str) -> Report:
    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("evaluating", total=None)
        return evaluate(
            origin=None if origin == BEST else origin,
            progress=lambda gpu, done, of: bar.update(task, description=gpu, completed=done, total=of),
        )


if __name__ == "__main__":
    sys.exit(main())
