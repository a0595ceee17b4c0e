"""A user's measured rows -> a calibration of one GPU: its sustained rates, and a correction per kernel.

What is fitted must show on rows that it did not see: whole weight shapes are left out in turn, and a step is taken
only where it lowers the held-out error by more than two standard errors of that difference. Else things stay as they
are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from ..errors import FieldError
from ..estimators import analytical, calibrated
from ..estimators.calibration_file import FORMAT, HARDWARE, CalibrationFile, Hardware, Kernel, render
from ..estimators.weights import Regime, Weights, shipped
from ..hardware import GPU
from ..kernels import family
from ..measurements import Rows
from ..tables.outfile import replacing
from ..version import VERSION
from .calibration_choice import Choice, choose
from .calibration_hardware import fit_hardware
from .calibration_tuning import parts_of

LEAST_ROWS = 16
MOST_ROWS = 1000  # of which the fit is made in seconds; more are drawn from
REGIME_ROWS = 20
OWN_REGIME_ROWS = 60  # of an engine; with fewer, errors of all engines of the kernel count
REGIMES_S = (10e-6, 100e-6, float("inf"))

LEAST_SHARE, MOST_SHARE = 0.2, 1.25  # of a published rate


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CalibrationFit:
    """A calibration with the GPU and the weights that it was made for."""

    file: CalibrationFile
    gpu: GPU
    weights: Weights | None

    def predict(self, rows: Rows) -> np.ndarray:
        """Seconds, one per row; the rows may be of many engines, kernels and formats."""
        time_s = np.empty(len(rows))
        for _, index in rows.indices("engine", "kernel", "dtype"):
            part = rows.take(index)
            kind = family(part.family[0])
            time_s[index] = calibrated.estimate(kind, part.call(), self.gpu, self.file, self.weights).time_s
        return time_s


def fit_calibration(rows: Rows, gpu: GPU, weights: Weights | None = None, seed: int = 0) -> CalibrationFit:
    """The calibration of a GPU by rows of its own; those of a test split and biased ones are left out.

    Raises:
        FieldError: fewer than 16 rows, or rows of another GPU, or such as no GPU of that kind can have.
    """
    own = _usable(rows, gpu, seed)
    weights = weights or shipped(str(own.family[0]))
    parts = parts_of(own, gpu, weights) if weights else []
    choice = choose(own, parts, gpu, seed)
    measured = fit_hardware(own, gpu)
    at = choice.gpu if parts else _nearer(own, gpu, replace(gpu, calibration=measured))
    check_shares(at)
    said = dict(measured.provenance) | ({"how": choice.how} if parts else {})
    kernels = {key: _kernel(key, own, index, gpu, at, choice) for key, index in _by_key(own)}
    file = CalibrationFile(
        format=FORMAT, family=str(own.family[0]), gpu=gpu.key,
        weights=weights.card.sha256[:12] if weights else "", synperf=VERSION,
        date=datetime.now(UTC).date().isoformat(), seed=seed, rows=len(own),
        sources=dict(Counter(own.source.astype(str).tolist())), hardware=_hardware(gpu, at, said),
        kernels=kernels, residuals=choice.residuals,
    )  # fmt: skip
    return CalibrationFit(file=file, gpu=gpu, weights=weights)


def check_shares(gpu: GPU) -> None:
    """Checks that the rows can be of that GPU: no GPU sustains a tenth, or twice, of what is published.

    Raises:
        FieldError: they say that it does.
    """
    for name, what in (("clock_share", "math rate"), ("dram_share", "DRAM bandwidth")):
        share = getattr(gpu.calibration, name)
        if share is not None and not LEAST_SHARE <= share <= MOST_SHARE:
            raise FieldError(
                f"rows: they say that {gpu.name} sustains {share:.0%} of its published {what}; right would be rows of "
                f"this GPU, from {LEAST_SHARE:.0%} to {MOST_SHARE:.0%}"
            )


def save(fit: CalibrationFit, path: str | Path) -> None:
    """Writes the file whole, or not at all.

    Raises:
        FieldError, PerfError: it cannot be written there.
    """
    with replacing("out", Path(path)) as part:
        part.write_bytes(render(fit.file))


def _usable(rows: Rows, gpu: GPU, seed: int) -> Rows:
    """The rows to fit to: of this GPU, not for tests; of very many, some drawn by the seed.

    Raises:
        FieldError: too few, or of another GPU.
    """
    others = sorted(set(rows.gpu.astype(str).tolist()) - {gpu.key})
    if others:
        raise FieldError(
            f"gpu: the rows are of {', '.join(others)}, not of {gpu.key}; right would be --gpu {others[0]}"
        )
    own = rows.take(~rows.is_test & ~rows.biased)
    if len(own) < LEAST_ROWS:
        left_out = f" (and {len(rows) - len(own)} for tests)" if len(own) < len(rows) else ""
        raise FieldError(
            f"rows: {len(own)}{left_out}; right would be {LEAST_ROWS} or more: `synperf calibrate --plan` lists some"
        )
    if len(own) <= MOST_ROWS:
        return own
    return own.take(np.sort(np.random.default_rng(seed).choice(len(own), MOST_ROWS, replace=False)))


def _by_key(rows: Rows) -> list[tuple[str, np.ndarray]]:
    return [(".".join(label), index) for label, index in rows.indices("engine", "kernel", "dtype")]


def _hardware(before: GPU, after: GPU, said: dict[str, str]) -> Hardware:
    record, was = after.calibration, before.calibration
    as_before = dict(record.launch_floor_s) == dict(was.launch_floor_s)
    return Hardware(
        clock_share=record.clock_share,
        dram_share=record.dram_share,
        l2_share=record.l2_share,
        launch_floor_s=dict(record.launch_floor_s),
        launch_floor_from=was.launch_floor_from if as_before else "",
        said=said,
    )


def _kernel(key: str, rows: Rows, index: np.ndarray, before: GPU, after: GPU, choice: Choice) -> Kernel:
    """What was chosen for one engine, kernel and format, with its held-out errors."""
    own, pool = rows.take(index), key.partition(".")[2]
    if pool not in choice.method:
        errors = [float(np.abs(_analytical_s(own, gpu) / own.time_s - 1.0).mean()) for gpu in (before, after)]
        return Kernel(
            method=HARDWARE, why="no weights: the analytical estimate with the launch floor", rows=len(index),
            before=errors[0], after=errors[1], regimes=(),
        )  # fmt: skip
    held_out = np.abs(choice.time_s[index] / own.time_s - 1.0)
    alike = index if len(index) >= OWN_REGIME_ROWS else _pool(rows, pool)
    return Kernel(
        method=choice.method[pool], why=choice.why[pool], rows=len(index),
        before=float(np.abs(choice.before_s[index] / own.time_s - 1.0).mean()), after=float(held_out.mean()),
        regimes=regimes(rows.time_s[alike], choice.time_s[alike], key),
    )  # fmt: skip


def _pool(rows: Rows, pool: str) -> np.ndarray:
    """Where the rows of a `kernel.dtype` are."""
    kernel, dtype = pool.split(".")
    return np.flatnonzero((rows.kernel == kernel) & (rows.fields["dtype"] == dtype))


def _nearer(rows: Rows, before: GPU, after: GPU) -> GPU:
    """Of two records of a GPU the one whose analytical estimates of the rows are nearer."""
    errors = [
        sum(float(np.abs(_analytical_s(part, gpu) / part.time_s - 1.0).sum())
            for _, part in rows.groups("engine", "kernel", "dtype"))
        for gpu in (before, after)
    ]  # fmt: skip
    return after if errors[1] < errors[0] else before


def _analytical_s(rows: Rows, gpu: GPU) -> np.ndarray:
    found: np.ndarray = analytical.estimate(family(rows.family[0]), rows.call(), gpu).time_s
    return found


def regimes(measured_s: np.ndarray, held_out_s: np.ndarray, name: str) -> tuple[Regime, ...]:
    """Central 80 % of held-out errors, apart for short and long calls where both have rows enough; none of few."""
    ratio = np.log(measured_s / held_out_s)
    if len(ratio) < REGIME_ROWS:
        return ()
    which = np.searchsorted(REGIMES_S, held_out_s)
    apart = np.bincount(which, minlength=len(REGIMES_S)).min() >= REGIME_ROWS
    masks = [which == i for i in range(len(REGIMES_S))] if apart else [np.ones(len(ratio), dtype=bool)]
    ends = REGIMES_S if apart else REGIMES_S[-1:]
    return tuple(_regime(ratio[mask], end, name) for mask, end in zip(masks, ends, strict=True))


def _regime(ratio: np.ndarray, end: float, name: str) -> Regime:
    """Ends that hold 80 % of further rows, and more of few: each is outward by what its count spreads over."""
    n, ordered = len(ratio), np.sort(ratio)
    below = max(int(np.floor(0.1 * (n + 1) - np.sqrt(0.09 * n))), 1)
    low, high = min(float(ordered[below - 1]), 0.0), max(float(ordered[n - below]), 0.0)
    return Regime(name=name, up_to_s=min(end, 1e9), rows=n, low=low, high=high)


__all__ = ["CalibrationFit", "fit_calibration", "fit_hardware", "save"]
