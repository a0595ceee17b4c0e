"""Fits the calibration record of every measured GPU, and the spread of the analytical estimate.

    python -m synperf.training.hardware_records [--gpu KEY ...]

writes `hardware/calibration/<key>.toml` and, when all measured GPUs are fitted, `estimators/analytical.toml`.
Only training rows are read; what is fitted and how is said in `hardware_fits`.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tomllib import loads

from rich.console import Console
from rich.progress import track

from .. import hardware
from ..errors import PerfError
from ..evaluation.metrics import Errors
from ..hardware import GPU, Calibration
from ..measurements import Rows, aiconfigurator
from .hardware_fits import (
    NO_L2_SHARE,
    Fit,
    clock_share,
    dram_share,
    launch_floors,
    launch_floors_of_least_work,
    samples,
)
from .interval_fits import Residuals, ratios, residuals
from .toml import Table, render

PACKAGE = Path(__file__).parent.parent
COMMAND = "python -m synperf.training.hardware_records"
_HOW = "medians and P95 over training rows, synperf/training/hardware_fits.py says of which"
_FAMILY = "gemm"  # whose rows tell the rates of a GPU
_OTHERS = ("attention", "mla", "fused_moe", "quantize", "sparse_attention")  # of which launch floors alone are fitted
_BF16 = "cublas.bf16"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What was fitted for one GPU."""

    floors: dict[str, Fit]
    clock_share: Fit | None
    dram_share: Fit | None

    def calibration(self) -> Calibration:
        """The constants alone, as a GPU holds them."""
        return Calibration(
            clock_share=self.clock_share.value if self.clock_share else None,
            dram_share=self.dram_share.value if self.dram_share else None,
            launch_floor_s={key: fit.value for key, fit in self.floors.items()},
        )


def fit(rows: Rows, gpu: GPU) -> Record:
    """Launch floors and sustained shares of one GPU from its training rows."""
    found = samples(rows, gpu)
    floors = launch_floors(found)
    if _BF16 not in found or _BF16 not in floors:
        return Record(floors=floors, clock_share=None, dram_share=None)
    bf16 = found[_BF16]
    return Record(
        floors=floors,
        clock_share=clock_share(bf16, gpu),
        dram_share=dram_share(bf16, gpu, floors[_BF16].value),
    )


def record_toml(key: str, record: Record, found: Residuals) -> str:
    """The calibration record as the file holds it."""
    shares = {"clock_share": record.clock_share, "dram_share": record.dram_share}
    provenance: Table = _provenance(found, f"{COMMAND} --gpu {key}")
    for name, fitted in (shares | record.floors).items():
        provenance[name] = f"{fitted.rows} rows, {fitted.spread}" if fitted else "not fitted: too few rows"
    provenance["l2_share"] = NO_L2_SHARE
    table: Table = {name: fitted.value for name, fitted in shares.items() if fitted}
    table["launch_floor_s"] = {name: fitted.value for name, fitted in record.floors.items()}
    return render(table | {"provenance": provenance}, f"{key}: fitted constants, on training rows only.")


def intervals_toml(found: Residuals) -> str:
    """The spread of the analytical estimate as the file holds it."""
    title = "Ratios measured / analytical estimate, of calls that the launch limits and of all others."
    return render({"ratios": ratios(found), "provenance": _provenance(found, COMMAND)}, title)


def _provenance(found: Residuals, command: str) -> Table:
    errors = Errors.of(found.time_s, found.measured_s)
    return {
        "how": _HOW,
        "source": aiconfigurator.source(),
        "rows": f"{len(found.time_s)} training rows of {_FAMILY}",
        "date": datetime.now(UTC).date().isoformat(),
        "command": command,
        "error": f"the analytical estimate on these rows: mean {errors.mape:.1%}, median {errors.median:.1%}",
    }


def write(path: Path, text: str) -> bool:
    """Writes the file whole, unless it says the same already on another date; whether it did."""
    if path.exists() and _undated(path.read_text(encoding="utf-8")) == _undated(text):
        return False
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
    return True


def _undated(text: str) -> Table:
    record: Table = loads(text)
    return record | {"provenance": {k: v for k, v in record.get("provenance", {}).items() if k != "date"}}


def main(arguments: Sequence[str] | None = None) -> int:
    """Fits and writes; the exit code."""
    parser = ArgumentParser(prog=COMMAND, description="Fit calibration records from measured rows.")
    parser.add_argument("--gpu", nargs="+", metavar="KEY", help="measured GPUs; all of them if left out")
    try:
        _run(parser.parse_args(arguments).gpu)
    except PerfError as wrong:
        print(wrong, file=sys.stderr)
        return 2
    return 0


def _run(chosen: Sequence[str] | None) -> None:
    measured, found = aiconfigurator.gpus(_FAMILY), []
    keys = tuple(chosen or measured)
    console = Console(stderr=True)
    for key in track(keys, "fitting", console=console, disable=not sys.stderr.isatty()):
        rows, gpu = aiconfigurator.read(key, _FAMILY), hardware.gpu(key)
        record = fit(rows, gpu)
        for family in _OTHERS:
            if key in aiconfigurator.gpus(family):
                other = samples(aiconfigurator.read(key, family), gpu)
                record = replace(record, floors=record.floors | launch_floors_of_least_work(other))
        found.append(residuals(rows, gpu, record.calibration()))
        write(PACKAGE / "hardware" / "calibration" / f"{key}.toml", record_toml(key, record, found[-1]))
    if set(keys) == set(measured):
        write(PACKAGE / "estimators" / "analytical.toml", intervals_toml(Residuals.join(found)))


if __name__ == "__main__":
    sys.exit(main())
