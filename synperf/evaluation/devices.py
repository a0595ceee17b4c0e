"""What is known of a GPU that is left out: as if nobody had ever measured it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import median

from .. import hardware
from ..hardware import GPU, Calibration
from ..hardware.capability import apart


def published(gpus: Iterable[str], held_out: Iterable[str]) -> dict[str, GPU]:
    """The GPUs by key; those held out have published figures alone, and nobody has anything that was measured on them.

    In the place of a record stands what a GPU without one has: launch floors of the nearest measured GPU, and the
    median share of the published rates; both of the other GPUs only.
    """
    held = set(held_out)
    found = {key: hardware.gpu(key) for key in gpus}
    records = {key: gpu.calibration for key, gpu in found.items() if key not in held and _is_own(gpu.calibration)}
    return {
        key: replace(gpu, calibration=stand_in(gpu, found, records))
        if key in held or gpu.calibration.launch_floor_from in held
        else gpu
        for key, gpu in found.items()
    }


def stand_in(gpu: GPU, gpus: Mapping[str, GPU], records: Mapping[str, Calibration]) -> Calibration:
    """The calibration of a GPU without a record of its own, where only these GPUs have one."""
    nearest = min(records, key=lambda key: (*_apart(gpu, gpus[key]), key), default="")
    return Calibration(
        clock_share=_median(one.clock_share for one in records.values()),
        dram_share=_median(one.dram_share for one in records.values()),
        l2_share=_median(one.l2_share for one in records.values()),
        launch_floor_s=records[nearest].launch_floor_s if nearest else {},
        launch_floor_from=nearest,
    )


def _is_own(record: Calibration) -> bool:
    return bool(record.launch_floor_s) and not record.launch_floor_from


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _apart(gpu: GPU, other: GPU) -> tuple[bool, bool, float, int]:
    """How far two GPUs are: the order of `hardware.records.nearest_measured`, which knows no GPU to leave out."""
    steps = apart(gpu.compute_capability, other.compute_capability)
    return steps != 0, other.architecture != gpu.architecture, steps, abs(other.num_sms - gpu.num_sms)
