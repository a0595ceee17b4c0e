"""The learned estimate with what a user's own rows say: the GPU's sustained rates, and a correction per kernel.

A kernel that no correction was fitted for has the learned estimate on the calibrated GPU, or the analytical one where
there are no weights; the answer's origin says which.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from ..errors import FieldError
from ..hardware import GPU, Calibration
from ..hardware.launch import launch_floor
from ..kernels import KernelFamily
from ..kernels import family as family_named
from ..numeric import is_array
from ..units import counted, format_time
from . import analytical, learned
from .calibration_file import (
    HARDWARE,
    REGIME_ROWS,
    WITHOUT_RESIDUAL,
    CalibrationFile,
    Kernel,
    Residual,
    pool_of,
    read,
    require_gpu,
)
from .estimate import Estimate
from .network import Network
from .weights import Regime, Weights, shipped

ORIGIN = "calibrated"
_APART = 2.0  # ranges: rows of two kinds of calls say little of each other
_BLOCK = 64  # rows whose distances stay in a core's cache
STOOD_IN = ("gpu", "kernel", "dtype")  # what a network answers for in the place of others


def estimate(
    kind: KernelFamily, call: Any, gpu: GPU, calibration: CalibrationFile | str | Path, weights: Weights | None = None
) -> Estimate:
    """Time of one call, or of columns of calls, by a calibration or the file that holds one.

    Raises:
        FileFormatError: the file is damaged or of another version.
        FieldError: it is of another GPU, or was made for other weights or with another file of the user's own family;
            else as the learned estimate.
        UnsupportedError: as the analytical estimate.
    """
    found = calibration if isinstance(calibration, CalibrationFile) else read(calibration)
    weights = weights or shipped(kind.name)
    require_file(found, kind)
    device = calibrated_gpu(gpu, found)
    call = learned.as_in_rows(kind, call, gpu, {key.partition(".")[0] for key in found.kernels})
    if parts := learned.by_variant(kind, call):
        return Estimate.gather([(rows, estimate(kind, part, gpu, found, weights)) for rows, part in parts])
    want = learned.wanted(kind, call, gpu)
    pool = pool_of(want.kernel, call.dtype, want.variant)
    own = found.kernels.get(f"{want.engine}.{pool}")
    if own is not None:
        want = learned.of_any_balance(want)
    moved = _moved(gpu, device, want, kind.name)
    if weights is None or learned.choose(weights, want) is None:
        return _marked(analytical.estimate(kind, call, device), found, _said(own, want, moved[-1:]))
    require_weights(found, weights)
    answer = learned.answer(kind, call, device, want, weights)
    label, correction, origin = (want.engine, want.kernel), answer.correction, learned.ORIGIN
    if own is not None and own.method not in WITHOUT_RESIDUAL:
        logs, hidden = np.atleast_2d(answer.logs), np.atleast_2d(answer.hidden)
        scaled = scaled_inputs(kind, answer.choice.network, logs)
        extra = added(found.residuals[pool], want.engine, answer.choice.network, scaled, hidden)
        correction, origin = correction + (extra if is_array(correction) else extra.item()), ORIGIN
    choice, regimes = _intervals(answer.choice, own)
    answer = replace(answer, choice=_replaced(choice, want, own))
    made = learned.finish(kind, call, device, label, answer, correction, regimes, origin)
    return _marked(made, found, _said(own, want, moved))


def _intervals(choice: learned.Choice, own: Kernel | None) -> tuple[learned.Choice, tuple[Regime, ...]]:
    """The choice and the regimes to answer by: the calibration's, or those of the weights, which few rows widen."""
    regimes = own.regimes if own else ()
    if regimes and regimes[0].rows < REGIME_ROWS:
        wide = learned.widened(choice, regimes[0])
        return wide, wide.regimes
    return choice, regimes or choice.regimes


def _replaced(choice: learned.Choice, want: learned.Wanted, own: Kernel | None) -> learned.Choice:
    """The choice of a network without what a calibration replaces of its assumptions.

    Once rows of the kernel itself correct its answers, they stand for no other, and L2 was as in these rows. Where the
    rows tell rates alone, the GPU is no longer one that nobody measured with this kernel.
    """
    if own is not None and own.method not in WITHOUT_RESIDUAL:
        outside = tuple(name for name in choice.outside if name not in STOOD_IN)
        return replace(choice, outside=outside, assumptions=(), in_turn=False)
    itself = choice.network.groups[choice.group] == f"{want.engine}.{want.kernel}"
    if own is not None and own.method == HARDWARE and itself:
        outside = tuple(name for name in choice.outside if name != "gpu")
        return replace(choice, outside=outside, assumptions=choice.assumptions[:-1])
    return choice


def _moved(gpu: GPU, device: GPU, want: learned.Wanted, family: str) -> tuple[str, str]:
    """What the calibration has for the two shares, and for the launch floor of a kernel; empty where it moved none."""
    was, now = gpu.calibration, device.calibration
    pairs = [(name, getattr(was, name), getattr(now, name)) for name in ("clock_share", "dram_share")]
    shares = [f"{name} {after:.3g}" for name, before, after in pairs if after is not None and after != before]
    like = family_named(family).launches_like
    floors = [launch_floor(one, family, want.kernel, want.dtype, like)[0] for one in (gpu, device)]
    return " and ".join(shares), f"launch floor {format_time(floors[1])}" if floors[0] != floors[1] else ""


def _said(own: Kernel | None, want: learned.Wanted, moved: tuple[str, ...]) -> str:
    """What a calibration did to an estimate, or that it did nothing."""
    name = " ".join(filter(None, (want.kernel, want.dtype, want.variant, "in", want.engine)))
    rows = "no row" if own is None else f"from {counted(own.rows, 'row')}"
    done = [own.method] if own is not None and own.method not in WITHOUT_RESIDUAL else []
    steps = ", ".join([*done, *filter(None, moved)])
    return f"{steps or 'changed nothing'}; {rows} of {name}"


def calibrated_gpu(gpu: GPU, found: CalibrationFile) -> GPU:
    """The GPU with the rates and launch floors of a calibration.

    Raises:
        FieldError: the calibration is of another GPU.
    """
    require_gpu(found, gpu.key)
    return _device(gpu, _Same(found))


class _Same:
    """A calibration as a key: itself alone is equal to it."""

    __slots__ = ("found",)

    def __init__(self, found: CalibrationFile) -> None:
        self.found = found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.found is self.found

    def __hash__(self) -> int:
        return id(self.found)


@lru_cache(maxsize=64)
def _device(gpu: GPU, one: _Same) -> GPU:
    """One object for one pair, so that what is cached by GPU is found again."""
    hardware = one.found.hardware
    record = Calibration(
        clock_share=hardware.clock_share,
        dram_share=hardware.dram_share,
        l2_share=hardware.l2_share,
        launch_floor_s=MappingProxyType(dict(hardware.launch_floor_s)),
        launch_floor_from=hardware.launch_floor_from,
        launch_floor_fitted=hardware.launch_floor_fitted,
        provenance=MappingProxyType(dict(hardware.said)),
    )
    return replace(gpu, calibration=record)


def require_file(found: CalibrationFile, kind: KernelFamily) -> None:
    """Checks that a calibration of a family of the user's own was made with the file that describes it now.

    Raises:
        FieldError: it was made with another.
    """
    if found.family == kind.name and found.plugin != kind.digest:
        raise FieldError(f"calibration: it was made with another file of {kind.name}; calibrate again")


def require_weights(found: CalibrationFile, weights: Weights) -> None:
    """Checks that a calibration is for these weights: rates were tuned through them, and corrections are of theirs.

    Raises:
        FieldError: they were made for others.
    """
    digest = weights.card.sha256[:12]
    if found.weights != digest:
        was = found.weights or "none"
        raise FieldError(f"calibration: made for the weights {was}, not {digest}; calibrate again")


def scaled_inputs(kind: KernelFamily, network: Network, logs: np.ndarray) -> np.ndarray:
    """(rows, D) inputs cut to the range of the training and scaled to 0..1 over it; the family's marks to 0..2."""
    width = np.maximum(network.high - network.low, 1e-3)
    scaled: np.ndarray = np.clip((logs - network.low) / width, 0.0, 1.0).astype(np.float64)
    scaled[:, [network.inputs.index(name) for name in kind.marks if name in network.inputs]] *= _APART
    return scaled


def added(one: Residual, engine: str, network: Network, scaled: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """(rows,) what a residual part adds to log(time / base).

    Raises:
        FieldError: it does not fit the network.
    """
    sizes = (len(one.input_weights), len(one.hidden_weights))
    if sizes != (scaled.shape[1], hidden.shape[1]) or not set(one.coordinates) <= set(network.inputs):
        raise FieldError("calibration: its residual part does not fit the weights; calibrate again")
    total = one.shifts.get(engine, 0.0) + scaled @ np.array(one.input_weights)
    total = total + hidden.astype(np.float64) @ np.array(one.hidden_weights)
    if one.points:
        columns = [network.inputs.index(name) for name in one.coordinates]
        own = np.array([1.0 + one.own * (name == engine) for name in one.point_engines])
        around = peaks if one.peaked else bumps
        total = total + around(scaled[:, columns], np.array(one.points), one.length) @ (own * np.array(one.heights))
    cut: np.ndarray = np.clip(total, one.low, one.high)
    return cut


def bumps(at: np.ndarray, points: np.ndarray, length: float) -> np.ndarray:
    """(rows, points) exp(-distance**2 / 2 length**2)."""
    square = (at**2).sum(axis=1)[:, None] + (points**2).sum(axis=1) - 2.0 * at @ points.T
    near: np.ndarray = np.exp(np.maximum(square, 0.0) / (-2.0 * length**2))
    return near


def peaks(at: np.ndarray, points: np.ndarray, length: float) -> np.ndarray:
    """(rows, points) exp(-distance / length), where the distance is the sum of those along every coordinate."""
    blocks = np.array_split(at, len(at) // _BLOCK + 1)
    near: np.ndarray = np.exp(np.concatenate([_block_distance(block, points) for block in blocks]) / -length)
    return near


def _block_distance(at: np.ndarray, points: np.ndarray) -> np.ndarray:
    total = np.zeros((len(at), len(points)))
    step = np.empty_like(total)
    for left, right in zip(at.T, np.ascontiguousarray(points.T), strict=True):
        np.subtract(left[:, None], right, out=step)
        total += np.abs(step, out=step)
    return total


def _marked(made: Estimate, found: CalibrationFile, what: str) -> Estimate:
    """The estimate with a sentence on the calibration behind its assumptions."""
    sentence = f"calibration of {found.date}: {what}"
    return replace(
        made, assumptions=(*made.assumptions, sentence), versions={**made.versions, "calibration": found.date}
    )
