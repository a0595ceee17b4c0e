"""Whether one run is slower than another, and where the time of its steps went: same steps against same steps.

The verdict is by the rank sum test over the durations of steps, whose medians are compared: runs whose steps spread
more than they differ are told as inconclusive. Differences are of the means over the same steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum

import numpy as np

from ..errors import FieldError
from ..light_classes import dataclass
from ..traces import Progress
from ..traces.events import Caution, Trace
from . import rank_sum
from .dataloader import DataLoader
from .per_step import PerStep, Sums, per_step
from .reading import Source, read

_COSTLY = {"with_stack": "stacks", "record_shapes": "shapes", "profile_memory": "memory"}  # settings of the profiler
_ON = "1"
CHANCE = 0.05  # of the test, below which a difference is one


class Verdict(StrEnum):
    """Of B against A."""

    FASTER = "faster"
    SLOWER = "slower"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One of the two. `spread` is the median distance of steps from their median, over it."""

    files: tuple[str, ...]
    found_by: str
    steps: int
    left_out: int
    median_ns: float
    spread: float
    dataloader: DataLoader | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What one thing takes of a step in each run, in the mean; above 0 is lost by B."""

    name: str
    a_ns: float
    b_ns: float

    @property
    def change_ns(self) -> float:
        return self.b_ns - self.a_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Differences of what both runs have, the largest first, and the sums of what only one of them has."""

    rows: tuple[Difference, ...]
    unmatched: Difference
    only_a: int
    only_b: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """B against A. `change` is of the median step, above 0 if B is slower; `p_value` is that of the rank sum test.

    `parts` are where a step goes, and their changes add up to that of the mean step. `can_tell` is whether any
    durations of so many steps could have made a verdict. `steps` are the single ones, where they have the same names.
    """

    a: Run
    b: Run
    matched_by: str
    verdict: Verdict
    change: float
    p_value: float
    can_tell: bool
    parts: Table
    families: Table
    operators: Table
    steps: tuple[Difference, ...]
    cautions: tuple[Caution, ...]

    @property
    def main(self) -> Difference | None:
        """The part that changed most in the direction of the whole step."""
        towards = 1 if self.change > 0 else -1
        same = [one for one in self.parts.rows if one.change_ns * towards > 0]
        return max(same, key=lambda one: abs(one.change_ns), default=None)


def compare(
    a: Source | Sequence[Source], b: Source | Sequence[Source], *, progress: Progress | None = None, workers: int = 1
) -> Comparison:
    """Whether run B is slower than run A, and where the time of its steps went; each is a file, or those of its ranks.

    Raises:
        FieldError: no file is given, or one twice in a run; a run has no steps.
        FileFormatError: a file is of no format that is read.
    """
    return compare_traces(*(read(one, progress=progress, workers=workers) for one in (a, b)))


def compare_traces(a: Sequence[Trace], b: Sequence[Trace]) -> Comparison:
    """Compares two runs of a job, each of one rank or of several.

    Raises:
        FieldError: a run has no steps, or its ranks have none of the same names.
    """
    of_a, of_b = _steps("a", a), _steps("b", b)
    shared = [name for name in of_a.names if name in of_b.names]
    same = 2 * len(shared) >= min(len(of_a.names), len(of_b.names))
    if same:
        of_a, of_b = of_a.of(shared), of_b.of(shared)
    p = rank_sum.p_value(of_a.dur_ns, of_b.dur_ns)
    run_a, run_b = _run(a, of_a), _run(b, of_b)
    return Comparison(
        a=run_a,
        b=run_b,
        matched_by="name" if same else "none: all steps of both",
        verdict=_verdict(run_a.median_ns, run_b.median_ns, p),
        change=run_b.median_ns / run_a.median_ns - 1,
        p_value=p,
        can_tell=rank_sum.smallest_p(run_a.steps, run_b.steps) < CHANCE,
        parts=_table(of_a.parts, of_b.parts),
        families=_table(of_a.families, of_b.families),
        operators=_table(of_a.operators, of_b.operators),
        steps=_each(of_a, of_b) if same else (),
        cautions=(*_unlike(run_a, run_b), *_cautions(a, b)),
    )


def _steps(which: str, traces: Sequence[Trace]) -> PerStep:
    found = per_step(traces)
    if found is None or not found.dur_ns.all():
        files = ", ".join(trace.source for trace in traces)
        raise FieldError(
            f"{which}: {files} has no steps to compare: no marks of steps, and no kernels that repeat evenly;"
            " right would be a trace of several steps"
        )
    return found


def _run(traces: Sequence[Trace], found: PerStep) -> Run:
    median = float(np.median(found.dur_ns))
    return Run(
        files=tuple(dict.fromkeys(trace.source for trace in traces)),
        found_by=found.found_by,
        steps=len(found.names),
        left_out=found.left_out,
        median_ns=median,
        spread=float(np.median(np.abs(found.dur_ns - median))) / median,
        dataloader=found.dataloader,
    )


def _verdict(a_ns: float, b_ns: float, p: float) -> Verdict:
    if p >= CHANCE or a_ns == b_ns:
        return Verdict.INCONCLUSIVE
    return Verdict.SLOWER if b_ns > a_ns else Verdict.FASTER


def _table(a: Sums, b: Sums) -> Table:
    both = [_difference(name, a, b) for name in a if name in b]
    both = [one for one in both if one.a_ns or one.b_ns]
    only_a, only_b = [name for name in a if name not in b], [name for name in b if name not in a]
    return Table(
        rows=tuple(sorted(both, key=lambda one: (-abs(one.change_ns), one.name))),
        unmatched=Difference(
            name="unmatched", a_ns=sum(_mean(a, name) for name in only_a), b_ns=sum(_mean(b, name) for name in only_b)
        ),
        only_a=len(only_a),
        only_b=len(only_b),
    )


def _difference(name: str, a: Sums, b: Sums) -> Difference:
    return Difference(name=name, a_ns=_mean(a, name), b_ns=_mean(b, name))


def _mean(sums: Sums, name: str) -> float:
    return float(sums[name].mean())


def _each(a: PerStep, b: PerStep) -> tuple[Difference, ...]:
    pairs = zip(a.names, a.dur_ns.tolist(), b.dur_ns.tolist(), strict=True)
    return tuple(Difference(name=name, a_ns=of_a, b_ns=of_b) for name, of_a, of_b in pairs)


def _unlike(a: Run, b: Run) -> Iterator[Caution]:
    if a.found_by != b.found_by:
        yield Caution(text=f"steps are found by {a.found_by} in A and by {b.found_by} in B, so they may not be alike")


def _cautions(a: Sequence[Trace], b: Sequence[Trace]) -> Iterator[Caution]:
    """What makes the runs unlike, and damage of either."""
    if len(a) != len(b):
        yield Caution(text=f"A has {len(a)} ranks and B has {len(b)}: times are the mean over those that are there")
    gpus = [", ".join(sorted({device.name for trace in run for device in trace.devices})) for run in (a, b)]
    if all(gpus) and gpus[0] != gpus[1]:
        yield Caution(text=f"the runs are on different GPUs: A on {gpus[0]}, B on {gpus[1]}")
    for setting, what in _COSTLY.items():
        on = [any(trace.host.get(setting) == _ON for trace in run) for run in (a, b)]
        if on[0] != on[1]:
            yield Caution(text=f"only {'A' if on[0] else 'B'} was recorded with {what}, which slows the host")
    for which, run in (("A", a), ("B", b)):
        for trace in run:
            yield from (replace(one, text=f"{which}, {trace.source}: {one.text}") for one in trace.cautions)
