"""A user's measured rows -> a calibration of one GPU: its sustained rates, and a correction per kernel.

What is fitted must show on rows that it did not see: whole weight shapes are left out in turn, and a step is taken
only where it lowers the held-out error by more than two standard errors of that difference. Else things stay as they
are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from ..errors import FieldError, UnsupportedError
from ..estimators import calibrated
from ..estimators.calibration_file import FORMAT, ZERO_SHOT, CalibrationFile, Hardware, Kernel, render
from ..estimators.weights import Weights, shipped
from ..hardware import GPU
from ..hardware.records import SHARES as RECORDED
from ..kernels import family
from ..measurements import Rows
from ..tables.outfile import replacing
from ..version import VERSION
from . import calibration_kernels
from .calibration_choice import Choice, choose
from .calibration_floors import with_floors
from .calibration_hardware import LEAST_SHARE, MOST_SHARE, fit_hardware, impossible
from .calibration_intervals import intervals
from .calibration_rows import pools, usable
from .calibration_tuning import SHARES, parts_of
from .recipe import by_kernel

_RATES = {"clock_share": "math rate", "dram_share": "DRAM bandwidth"}
OWN_REGIME_ROWS = 60  # of an engine; with fewer, errors of all engines of the kernel count


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CalibrationFit:
    """A calibration with the GPU and the weights that it was made for."""

    file: CalibrationFile
    gpu: GPU
    weights: Weights | None

    def predict(self, rows: Rows) -> np.ndarray:
        """Seconds, one per row; the rows may be of many engines, kernels and formats."""
        time_s = np.empty(len(rows))
        for _, index in rows.indices(*rows.labels()):
            part = rows.take(index)
            kind = family(part.family[0])
            time_s[index] = calibrated.estimate(kind, part.call(), self.gpu, self.file, self.weights).time_s
        return time_s


def fit_calibration(rows: Rows, gpu: GPU, weights: Weights | None = None, seed: int = 0) -> CalibrationFit:
    """The calibration of a GPU by rows of its own; those of a test split and biased ones are left out.

    Raises:
        FieldError: fewer than 16 rows, or rows of another GPU, or such as no GPU of that kind can have.
        UnsupportedError: nothing of these rows can be corrected.
    """
    if not len(rows):
        raise FieldError("rows: there are none; right would be measured calls of one family")
    name = str(rows.family[0])
    weights = weights or shipped(name)
    chosen = usable(rows, gpu, weights, seed)
    own = chosen.rows
    choice = with_floors(choose(own, parts_of(own, gpu, weights) if weights else [], gpu, seed), own, gpu, seed)
    _require_some(choice, own, gpu, weights)
    check_shares(choice.gpu)
    file = CalibrationFile(
        format=FORMAT, family=name, gpu=gpu.key, weights=weights.card.sha256[:12] if weights else "", synperf=VERSION,
        date=datetime.now(UTC).date().isoformat(), seed=seed, rows=len(own),
        sources=dict(Counter(own.source.astype(str).tolist())), hardware=_hardware(gpu, own, choice),
        kernels=_kernels(own, choice, weights), residuals=choice.residuals, set_aside=chosen.set_aside,
        plugin=family(name).digest,
    )  # fmt: skip
    return CalibrationFit(file=file, gpu=gpu, weights=weights)


def _require_some(choice: Choice, rows: Rows, gpu: GPU, weights: Weights | None) -> None:
    """Checks that there is something that rows can correct: what has weights, or a launch floor.

    Raises:
        UnsupportedError: there is nothing.
    """
    if choice.served or set(choice.method.values()) != {ZERO_SHOT}:
        return
    name, why = rows.family[0], next(iter(choice.why.values()))
    what = f"{name} in {' and '.join(sorted({pool.partition('.')[2] for pool in choice.method}))}"
    if weights is None:
        right = "a family with weights"
    elif not calibration_kernels.has_format(rows, weights):
        right = f"formats with weights: {', '.join(calibration_kernels.formats(weights))}"
    else:
        why = f"kernel {' and '.join(sorted({pool.partition('.')[0] for pool in choice.method}))} has {why}"
        kernels = calibration_kernels.answered(rows, gpu, weights)
        right = f"rows of a kernel with weights here: {', '.join(f'kernel={kernel}' for kernel in kernels)}"
        right = right if kernels else f"rows of another GPU: no kernel of {what} has weights for {gpu.key}"
    raise UnsupportedError(f"rows: nothing of {what} can be corrected: {why}; right would be {right}")


def check_shares(gpu: GPU) -> None:
    """Checks that the rows can be of that GPU: no GPU sustains a tenth, or twice, of what is published.

    Raises:
        FieldError: they say that it does.
    """
    for name, share in impossible(gpu).items():
        raise FieldError(
            f"rows: they say that {gpu.name} sustains {share:.0%} of its published {_RATES[name]}; right would be rows "
            f"of this GPU, from {LEAST_SHARE:.0%} to {MOST_SHARE:.0%}"
        )


def save(fit: CalibrationFit, path: str | Path) -> None:
    """Writes the file whole, or not at all.

    Raises:
        FieldError, PerfError: it cannot be written there.
    """
    with replacing("out", Path(path)) as part:
        part.write_bytes(render(fit.file))


def _hardware(gpu: GPU, rows: Rows, choice: Choice) -> Hardware:
    """The rates that were chosen, and how each came to be what it is."""
    found = fit_hardware(rows, gpu)
    records = (gpu.calibration, found, choice.gpu.calibration)
    was, _, now = records
    said = {"how": choice.how}
    for name, told in found.provenance.items():
        if name in SHARES:
            said[name] = _origin([getattr(record, name) for record in records], told)
        elif name not in RECORDED:
            said[name] = _origin([record.launch_floor_s.get(name) for record in records], told)
    fitted = {key for key, value in now.launch_floor_s.items() if value != was.launch_floor_s.get(key)}
    return Hardware(
        clock_share=now.clock_share,
        dram_share=now.dram_share,
        l2_share=now.l2_share,
        launch_floor_s=dict(now.launch_floor_s),
        launch_floor_from=was.launch_floor_from,
        said=said,
        launch_floor_fitted=tuple(sorted(fitted)),
    )


def _origin(values: list[float | None], told: str) -> str:
    """How a constant came to what it is: its values before, of the rows by themselves, and now; `told` is of these."""
    was, found, now = values
    if now == was:
        return f"kept; {told}"
    return told if now == found else f"tuned on all rows; {told}"


def _kernels(rows: Rows, choice: Choice, weights: Weights | None) -> dict[str, Kernel]:
    """What was chosen for each engine, kernel and format, with its held-out errors."""
    every, found = pools(rows), {}
    why = {pool: f"{choice.why[pool]}{_together(rows, index)}" for pool, index in every.items()}
    for (_, engine, kernel, part), index in by_kernel(rows):
        pool, key = f"{kernel}.{part}", f"{engine}.{kernel}.{part}"
        before, after = (
            float(np.abs(time_s[index] / rows.time_s[index] - 1.0).mean())
            for time_s in (choice.before_s, choice.time_s)
        )
        alike = index if len(index) >= OWN_REGIME_ROWS else every[pool]
        own = intervals(rows, alike, pool, key, choice, weights)
        found[key] = Kernel(
            method=choice.method[pool], why=why[pool], rows=len(index), before=before, after=after, regimes=own
        )
    return found


def _together(rows: Rows, index: np.ndarray) -> str:
    """What is said behind the reason of a kernel and format: it is of all its engines, where there are several."""
    engines = sorted(set(rows.engine[index].astype(str).tolist()))
    return f" (of all engines together: {', '.join(engines)})" if len(engines) > 1 else ""


__all__ = ["CalibrationFit", "fit_calibration", "fit_hardware", "save"]
