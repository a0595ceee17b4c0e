"""Fits the curves of collectives of every measured GPU, and their intervals.

    python -m synperf.training.collective_records [--gpu KEY ...] [--data DIR]

writes `collectives/fits/<key>.json` and, when all GPUs are fitted, `collectives/fits/analytical.json`: the spread of
the estimate that is fitted to nothing. Only training rows are read for both. DIR holds PipeWeave's and Vidur's tables.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

import msgspec
import numpy as np
from rich.console import Console
from rich.progress import track

from .. import hardware
from ..collectives.curves import Curve, Interval
from ..collectives.measured import Messages, place_of
from ..collectives.place import Place
from ..collectives.records import ANALYTICAL, FOLDER, Intervals
from ..errors import PerfError
from ..evaluation.collectives import modelled
from ..measurements import Rows
from ..measurements import collectives as measured
from ..units import format_percent
from .collective_fits import MOST_ROWS, SEED, copies_of, corrections, curve, fitted, kinds, rounded

COMMAND = "python -m synperf.training.collective_records"
NCCL = "nccl"
_FOLDS = 5
_CENTRAL = (0.1, 0.9)
_FEW = 2.5  # over sqrt(n): quantiles of n rows hold fewer of others; chosen by the share of test rows within
_LEAST = 0.015  # relative half-width: measured twice, a message of NCCL differs by so much
_GUESS = Interval(low=0.74, high=1.35)  # where one number of ranks alone was measured


def record(rows: Rows) -> Curve:
    """The curve of the rows of one library, operation, format and link, with its intervals and errors."""
    training, test = rows.take(~rows.is_test), rows.take(rows.is_test)
    place = _place(rows)
    made = curve(training, place.link, place.bytes_per_s)
    known = interval(_held_out_sizes(training, made))
    left_out = held_out_ranks(training)
    other = interval(left_out) if len(left_out) else _GUESS
    said = {
        "how": "synperf/training/collective_fits.py says of which terms, towards what and how robustly",
        "rows": f"{len(training)} training rows, {len(test)} test rows",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "command": COMMAND,
        "other_ranks": _said(left_out) if len(left_out) else "one number of ranks was measured: a guess",
    }
    if len(test):
        said["new_sizes"] = _said(logs(Messages.of(test, made.copies), made))
    return replace(made, known=known, other_ranks=_wider(other, known), provenance=said)


def _place(rows: Rows) -> Place:
    return place_of(rows, int(rows.fields["ranks"][0]), int(rows.fields["nodes"][0]))


def held_out_ranks(rows: Rows) -> np.ndarray:
    """Logarithms of measured over estimated times of every number of ranks, fitted without it."""
    place, copies = _place(rows), copies_of(str(rows.kernel[0]))
    messages = Messages.of(rows, copies)
    shapes = [which for _, _, which in messages.shapes()]
    if len(shapes) < 2:
        return np.zeros(0)
    operation, ways = str(rows.family[0]), kinds(rows, place.link)
    parts = [(which, fitted(messages.take(~which), operation, ways, place.bytes_per_s)) for which in shapes]
    return np.concatenate([logs(messages.take(which), made) for which, made in parts])


def _held_out_sizes(rows: Rows, made: Curve) -> np.ndarray:
    """Logarithms of measured over estimated times of parts of the rows, by curves without them.

    Where there are many rows, one part says nothing of the terms, and the corrections alone are fitted without it.
    """
    messages, place = Messages.of(rows, made.copies), _place(rows)
    fold = np.random.default_rng(SEED).integers(_FOLDS, size=len(messages))
    found = []
    for index in range(_FOLDS):
        rest, part = messages.take(fold != index), messages.take(fold == index)
        if len(messages) > MOST_ROWS:
            other = replace(made, corrections=corrections(rest, made))
        else:
            other = fitted(rest, made.operation, kinds(rows, place.link), place.bytes_per_s)
        found.append(logs(part, other))
    return np.concatenate(found)


def logs(messages: Messages, made: Curve) -> np.ndarray:
    """Logarithms of measured over estimated times."""
    found: np.ndarray = np.log(messages.time_s / messages.estimated(made))
    return found


def interval(ratios: np.ndarray) -> Interval:
    """What the central 80 % of these lie between, the estimate itself within; wider where they are few."""
    low, high = np.exp(np.quantile(ratios, _CENTRAL))
    power = 1 + _FEW / np.sqrt(len(ratios))
    return Interval(low=rounded(min(low, 1 / (1 + _LEAST)) ** power), high=rounded(max(high, 1 + _LEAST) ** power))


def _wider(one: Interval, other: Interval) -> Interval:
    return Interval(low=min(one.low, other.low), high=max(one.high, other.high))


def _said(ratios: np.ndarray) -> str:
    error = np.abs(np.expm1(-ratios))
    middle, mean = format_percent(float(np.median(error))), format_percent(float(error.mean()))
    return f"{len(error)} rows, median {middle}, mean {mean}"


def analytical(parts: Sequence[Rows]) -> Intervals:
    """The spread of NCCL's own model over the training rows of NCCL within nodes."""
    ratios = np.concatenate([_of_nccl(part.take(~part.is_test)) for part in parts if part.kernel[0] == NCCL])
    said = {"rows": _said(ratios), "date": f"{datetime.now(UTC):%Y-%m-%d}", "command": COMMAND}
    return Intervals(nccl=interval(ratios), provenance=said)


def _of_nccl(rows: Rows) -> np.ndarray:
    found: np.ndarray = np.log(rows.time_s / modelled(rows))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; 2 where its arguments are not what they should be."""
    parser = ArgumentParser(prog=COMMAND, description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--gpu", action="append", metavar="KEY", help="only this GPU; may be repeated")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of PipeWeave's and Vidur's tables")
    asked = parser.parse_args(arguments)
    try:
        rows, dropped = measured.read(asked.data)
        keys = {hardware.gpu(name).key for name in asked.gpu or ()}
        parts = [part for part in measured.systems(rows) if not keys or part.gpu[0] in keys]
        _write(parts, whole=not keys)
    except PerfError as error:
        print(f"{COMMAND}: {error}", file=sys.stderr)
        return 2
    for reason, count in dropped.most_common():
        print(f"set aside: {count:,} rows: {reason}")
    return 0


def _write(parts: Sequence[Rows], *, whole: bool) -> None:
    FOLDER.mkdir(exist_ok=True)
    told = Console(stderr=True)
    for gpu, group in groupby(parts, key=lambda part: str(part.gpu[0])):
        found = [record(part) for part in track(list(group), gpu, console=told)]
        (FOLDER / f"{gpu}.json").write_bytes(_document(found))
    if whole:
        (FOLDER / f"{ANALYTICAL}.json").write_bytes(_document(analytical(parts)))


def _document(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


if __name__ == "__main__":
    sys.exit(main())
