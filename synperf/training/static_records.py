"""Fits the factors of static batches, and what boards without calibration records sustain.

    python -m synperf.training.static_records --rows pipeweave_e2e_real.parquet

writes `serving/static.json` and `hardware/power.toml`. Intervals are of batches that were left out: of a GPU with the
others of it, alone with them; of GPUs as a whole, each without any of its own.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import numpy as np

from ..errors import PerfError
from ..evaluation.e2e.static import CONFIGURATION, GPU, HeldOut, held_out
from ..hardware import power
from ..measurements.static_batches import read
from ..serving import static_record
from ..serving.factors import NAMES
from ..serving.fitting.static_fit import Priced, StaticFit, key_of
from ..serving.static_record import OfGpu, Record, Spread, Spreads
from ..units import format_percent
from .toml import render

COMMAND = "python -m synperf.training.static_records"
_CENTRAL = (0.1, 0.9)
_DIGITS = 4


def record(priced: Priced, source: str) -> tuple[StaticFit, Record]:
    """The fit to all batches, and the record of it."""
    every = priced.fitted(np.ones(len(priced.runs), dtype=bool))
    known, other = (held_out(priced, one) for one in (CONFIGURATION, GPU))
    keys = [key_of(run) for run in priced.runs]
    return every, Record(
        factors={name: _rounded(value) for name, value in zip(NAMES, every.values.tolist(), strict=True)},
        gpus={
            key: OfGpu(prefill=_rounded(prefill), decode=_rounded(decode), loads=keys.count(key))
            for key, (prefill, decode) in sorted(every.gpus.items())
        },
        known=_spreads(known),
        other=_wider(_spreads(other), _spreads(known)),
        provenance=_provenance(priced, source, known, other),
    )


def _provenance(priced: Priced, source: str, known: HeldOut, other: HeldOut) -> dict[str, str]:
    return {
        "how": "synperf/serving/fitting/static_fit.py says of which, towards what and how robustly",
        "source": f"{source}: static batches of SGLang, bf16, median of the repeats after the first",
        "rows": f"{len(priced.runs)} configurations",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "command": COMMAND,
        **{one.left_out: _errors(one) for one in (known, other)},
    }


def _errors(one: HeldOut) -> str:
    shown = ", ".join(f"{phase} {format_percent(np.abs(errors).mean())}" for phase, errors in one.errors().items())
    return f"mean errors: {shown}"


def _spreads(one: HeldOut) -> Spreads:
    """What the central 80 % of measured over predicted times lie between; 1 is always within."""
    return Spreads(**{phase: _spread(1 / (1 + errors)) for phase, errors in one.errors().items()})


def _wider(one: Spreads, other: Spreads) -> Spreads:
    """The further ends of both: less is known of a GPU that was not measured."""
    pairs = {name: (getattr(one, name), getattr(other, name)) for name in one.__struct_fields__}
    return Spreads(**{name: Spread(min(a.low, b.low), max(a.high, b.high)) for name, (a, b) in pairs.items()})


def _spread(ratios: np.ndarray) -> Spread:
    low, high = np.quantile(ratios, _CENTRAL)
    return Spread(low=min(round(float(low), _DIGITS), 1.0), high=max(round(float(high), _DIGITS), 1.0))


def _rounded(value: float) -> float:
    """As many digits as the data have, of seconds too."""
    return float(f"{value:.4g}")


def power_text(fit: StaticFit, source: str, runs: int) -> str:
    """The file of what boards sustain."""
    said = {
        "how": "the point of least error of a small grid, with the factors of serving/static.json",
        "source": f"{source}, {runs} configurations",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "command": COMMAND,
    }
    table = {
        "efficiency": fit.limits.efficiency,
        "flop_per_s_per_w": dict(fit.limits.flop_per_s_per_w),
        "provenance": said,
    }
    return render(table, "what GPUs without calibration records sustain while they run a model: see power.py")


def main(arguments: Sequence[str]) -> int:
    """Fits, and writes both files."""
    options = ArgumentParser(prog=COMMAND)
    options.add_argument("--rows", type=Path, required=True, metavar="FILE")
    path = options.parse_args(arguments).rows
    try:
        priced = Priced([run for run in read(path) if run.measured.prefill_s is not None])
        every, found = record(priced, path.name)
    except PerfError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    static_record.FILE.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
    power.FILE.write_text(power_text(every, path.name, len(priced.runs)), encoding="utf-8")
    sys.stdout.write(f"{static_record.FILE}\n{power.FILE}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
