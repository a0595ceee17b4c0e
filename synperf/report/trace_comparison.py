"""A comparison of two traces, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..analysis.compare import CHANCE, Comparison, Difference, Run, Table, Verdict
from ..analysis.finding import named
from ..analysis.gaps import CAUSES
from ..analysis.per_step import IDLE
from ..units import format_percent, format_plain
from .jsonout import plain
from .text import counted, paragraphs, section, table
from .trace_columns import time, words
from .trace_lines import caution

_ROWS = 10  # of a table; the rest is summed up
_FILES = 3  # that are named
_HEADS = ("A", "B", "B - A")


def to_dict(found: Comparison) -> dict[str, Any]:
    """Every number; times are nanoseconds of a step, in the mean."""
    document = plain(found)
    for name in ("parts", "families", "operators"):
        document[name] = _table_dict(getattr(found, name))
    document["steps"] = [_row_dict(one) for one in found.steps]
    return {**document, "main": None if found.main is None else _row_dict(found.main)}


def _table_dict(of: Table) -> dict[str, Any]:
    rows = [_row_dict(one) for one in of.rows]
    return {"rows": rows, "unmatched": {**_row_dict(of.unmatched), "only_a": of.only_a, "only_b": of.only_b}}


def _row_dict(one: Difference) -> dict[str, Any]:
    return {**plain(one), "change_ns": one.change_ns}


def to_text(found: Comparison) -> str:
    """The verdict, the runs, the difference, and where a step's time went, by part, family and operator."""
    return paragraphs(
        _verdict(found),
        section("warnings", map(caution, found.cautions)),
        "\n".join(f"{name}  {_run(run)}" for name, run in (("A", found.a), ("B", found.b))),
        _main(found),
        _table("of a step", found.parts),
        _table("kernels", found.families),
        _table("host, own time", found.operators),
        _steps(found),
    )


def _verdict(found: Comparison) -> str:
    a, b = time(found.a.median_ns), time(found.b.median_ns)
    sizes = f"{found.a.steps} and {counted(found.b.steps, 'step')}"
    head = f"{found.verdict}: a step takes {a} in A and {b} in B, {_signed(found.change)}"
    p = format_plain(found.p_value, 2)
    test = f"rank sum test over {sizes}: p = {p}, {'' if found.p_value < CHANCE else 'not '}below {CHANCE:g}"
    if found.verdict is Verdict.INCONCLUSIVE and not found.can_tell:
        return f"{head}\n{test}, which so few steps cannot reach; right would be 4 of each or more"
    return f"{head}\n{test}"


def _signed(share: float) -> str:
    return f"{'+' if share > 0 else ''}{format_percent(share)}"


def _run(run: Run) -> str:
    cut = f", {run.left_out} left out" if run.left_out else ""
    steps = f"{counted(run.steps, 'step')} by {run.found_by}{cut}, spread {format_percent(run.spread)}"
    return f"{_files(run.files)}: {steps}{_loader(run)}"


def _files(names: Sequence[str]) -> str:
    """All names where they are few."""
    return ", ".join(names) if len(names) <= _FILES else f"{names[0]} and {len(names) - 1} more"


def _loader(run: Run) -> str:
    one = run.dataloader
    if one is None:
        return ""
    waits = f"{time(one.total_ns)} in {counted(one.count, 'wait')}"
    return f"; DataLoader {waits}, {format_percent(one.share)} of the trace"


def _main(found: Comparison) -> str:
    one = found.main
    if one is None or found.verdict is Verdict.INCONCLUSIVE:
        return ""
    what = f"idle time in which {CAUSES[one.name.removeprefix(IDLE)]}" if one.name.startswith(IDLE) else one.name
    return f"the difference: {what}, {time(one.a_ns)} of a step in A and {time(one.b_ns)} in B"


def _change(one: Difference) -> str:
    return f"{'+' if one.change_ns > 0 else ''}{time(one.change_ns)}"


def _cells(one: Difference, name: str) -> tuple[str, ...]:
    return (name, time(one.a_ns), time(one.b_ns), _change(one))


def _table(title: str, of: Table) -> str:
    """The largest differences, the sum of the others, and what is in one run only."""
    rows = [_cells(one, named(words(one.name))) for one in of.rows[:_ROWS]]
    rest = of.rows[_ROWS:]
    if rest:
        summed = Difference(name="", a_ns=sum(one.a_ns for one in rest), b_ns=sum(one.b_ns for one in rest))
        rows.append(_cells(summed, f"{len(rest)} more"))
    if of.only_a or of.only_b:
        rows.append(_cells(of.unmatched, f"unmatched: {of.only_a} only in A, {of.only_b} only in B"))
    return table((title, *_HEADS), rows, _HEADS) if rows else ""


def _steps(found: Comparison) -> str:
    if not found.steps:
        return "steps: no names in common, all of A against all of B"
    rows = [_cells(one, words(one.name)) for one in sorted(found.steps, key=lambda one: -abs(one.change_ns))[:_ROWS]]
    return table(("step", *_HEADS), rows, _HEADS)
