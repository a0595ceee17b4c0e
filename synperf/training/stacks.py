"""Fits the factors of the stacks whose serving points aiconfigurator-core has, and writes the file that ships.

    python -m synperf.training.stacks [--data FILE]

writes `serving/stacks.json` from the fit half of the points (`silicon_sample.csv` of the installed package, or FILE).
Intervals are quantiles of points that fits did not see, of the fit half too: fifths of the recipes, each family, each
GPU. The test half is read for the errors in the provenance alone.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt

from ..errors import PerfError
from ..measurements import silicon
from ..measurements.aiconfigurator import source
from ..measurements.points import Points
from ..models import model
from ..serving.answer import Interval
from ..serving.factors import NAMES, Factors
from ..serving.fitting.fitted import Fit, left_out
from ..serving.fitting.labels import RECIPE, VERSION, Key
from ..serving.fitting.served import Served
from ..serving.fitting.simulated import CHOICES
from ..serving.fitting.solve import Floats
from ..serving.fitting.tree import Node
from ..serving.stack_file import PATH, FittedLevel, Measured, Spread, StackFile, to_json
from ..serving.stacks import size_of
from ..units import format_percent

COMMAND = "python -m synperf.training.stacks"
_CENTRAL = (0.1, 0.9)
_FOLDS = 5
_DIGITS = 4
Bools = npt.NDArray[np.bool_]


def record(served: Served, aside: Mapping[str, int]) -> StackFile:
    """The file of all stacks, from the fit half."""
    training, test = served.take(~served.points.is_test), served.take(served.points.is_test)
    made = training.fitted()
    return StackFile(
        provenance={
            "source": f"{source()}, {silicon.FILE}",
            "how": "synperf/serving/fitting: robust, non-negative, towards the level above; residuals by kriging",
            "rows": f"{len(training.points)} of the fit half, {len(test.points)} of the test half",
            "set_aside": ", ".join(f"{count} {rule}" for rule, count in sorted(aside.items())),
            "test_half": _errors(made, test),
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "command": COMMAND,
        },
        families=families_of(training.points),
        spreads=_spreads(training),
        ttft=made.ttft.covariance,
        tpot=made.tpot.covariance,
        levels=tuple(level_of(key, node) for key, node in sorted(made.tree.nodes.items())),
        measured=tuple(measured_of(training, made)),
    )  # fmt: skip


def _errors(made: Fit, test: Served) -> str:
    if not len(test.points):
        return "none"
    ttft, tpot = made.times(test.labels, test.simulated.features)
    said = []
    for name, found, measured in (("TPOT", tpot, test.target.tpot_s), ("TTFT", ttft, test.target.ttft_s)):
        off = np.abs(found / measured - 1)
        off = off[np.isfinite(off)]
        said.append(f"{name} median {format_percent(float(np.median(off)))}, mean {format_percent(float(off.mean()))}")
    return "; ".join(said)


def families_of(points: Points) -> dict[str, str]:
    """What models are kin to, by their size."""
    pairs = dict.fromkeys(zip(points.model.tolist(), points.family.tolist(), strict=True))
    return dict(sorted({size_of(model(name)): family for name, family in pairs}.items()))


def _spreads(training: Served) -> dict[str, Spread]:
    """By level: what is nearest that fits saw."""
    labels, every = training.labels, len(training.points)
    recipes = np.array([hash_of(key) % _FOLDS for key in labels.keys(RECIPE)])
    thirds = np.arange(every) % _FOLDS
    return {
        "recipe": _spread(training, [thirds == fold for fold in range(_FOLDS)]),
        "family": _spread(training, [recipes == fold for fold in range(_FOLDS)]),
        "stack": _spread(training, [labels.family == name for name in sorted(set(labels.family))]),
        "engine": _spread(training, [labels.gpu == name for name in sorted(set(labels.gpu))]),
    }


def hash_of(key: Key) -> int:
    """A number of a recipe that does not change from run to run."""
    return crc32("|".join(key).encode())


def _spread(training: Served, parts: Sequence[Bools]) -> Spread:
    ttft, tpot = left_out(training.labels, training.simulated.features, training.target, parts)
    measured = training.target
    known = np.isfinite(tpot)
    e2e = training.e2e_s(ttft, tpot)[known]
    return Spread(
        ttft=interval_of(measured.ttft_s[known] / ttft[known]),
        tpot=interval_of(measured.tpot_s[known] / tpot[known]),
        e2e=interval_of(training.points.e2e_s[known] / e2e),
        points=int(known.sum()),
    )


def interval_of(ratios: Floats) -> Interval:
    """The central 80 % of ratios."""
    low, high = np.quantile(ratios, _CENTRAL)
    return Interval(low=rounded(low), high=rounded(high))


def level_of(key: Key, node: Node) -> FittedLevel:
    """A node of a tree as the file has it."""
    names = dict(zip(("engine", "gpu", "source", "family"), key, strict=False))
    values = (rounded(value) for value in node.values)
    factors = Factors(**dict(zip(NAMES, values, strict=True)))
    return FittedLevel(**names, factors=factors, policy=CHOICES[node.policy].of(key[0]), points=node.points)


def measured_of(training: Served, made: Fit) -> list[Measured]:
    """The points that a fit saw, with their weights."""
    return [_of_version(training, made, key, rows) for key, rows in sorted(training.labels.groups(VERSION).items())]


def _of_version(training: Served, made: Fit, key: Key, rows: npt.NDArray[np.int64]) -> Measured:
    engine, gpu, source, family, form, tp, ep, version = key
    columns = (getattr(training.points, name)[rows].tolist() for name in ("concurrency", "isl", "osl"))
    return Measured(
        engine=engine, gpu=gpu, source=source, family=family, format=form, tp=int(tp), ep=int(ep), version=version,
        loads=tuple(zip(*columns, strict=True)),
        ttft=tuple(map(rounded, made.ttft.weights[rows])),
        tpot=tuple(map(rounded, made.tpot.weights[rows])),
    )  # fmt: skip


def rounded(value: float) -> float:
    """A number to the digits that the file has."""
    return float(f"{value:.{_DIGITS}g}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; 2 where its arguments are not what they should be."""
    parser = ArgumentParser(prog=COMMAND, description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, metavar="FILE", help="the points; those of the package by default")
    asked = parser.parse_args(arguments)
    try:
        points, aside = silicon.read(asked.data)
        every = Served.of(points)
        served = every.take(~every.simulated.limited)
        counts = Counter(aside) + Counter({"room": len(points) - len(served.points)})
        PATH.write_text(to_json(record(served, counts)), encoding="utf-8")
    except PerfError as error:
        print(f"{COMMAND}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
