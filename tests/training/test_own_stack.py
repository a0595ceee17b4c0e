"""Factors of a user's own stack: one point helps, more help more, and points that were left out are told."""

from dataclasses import replace

import numpy as np
import pytest

import synperf
from synperf import ClosedLoop, FieldError, Plan
from synperf.measurements.points import Points
from synperf.serving.stack_file import read, to_json
from synperf.training.own_stack import fit_own

MODEL, GPU = "Qwen/Qwen3-32B", "a100_sxm"
LOADS = [(c, isl, osl) for c in (2, 8, 24) for isl, osl in ((512, 64), (2048, 128), (4000, 32))]


def predicted(load: tuple[int, int, int], **options: object) -> tuple[float, float]:
    concurrency, isl, osl = load
    asked = ClosedLoop(concurrency=concurrency, isl=isl, osl=osl)
    found = synperf.estimate(MODEL, Plan(tp=2, engine="vllm"), asked, GPU, **options).times
    return found.ttft.mean, found.tpot.mean


def points(loads: list[tuple[int, int, int]], ttft_factor: float, tpot_factor: float) -> Points:
    """Points of a server that takes so many times what is predicted."""
    times = np.array([predicted(load) for load in loads]) * (ttft_factor, tpot_factor)
    count = len(loads)

    def text(value: str) -> np.ndarray:
        return np.array([value] * count, dtype=object)

    numbers = dict(zip(("concurrency", "isl", "osl"), np.array(loads).T, strict=True))
    ranks = {name: np.full(count, 2 if name == "tp" else 1) for name in ("tp", "pp", "dp", "ep")}
    return Points(
        name=text("row"), model=text(MODEL), family=text(MODEL), dtype=text(""), gpu=text(GPU), engine=text("vllm"),
        version=text(""), source=text("own"), ttft_s=times[:, 0], tpot_s=times[:, 1],
        is_test=np.zeros(count, dtype=bool), **numbers, **ranks,
    )  # fmt: skip


def test_one_point_moves_its_recipe_and_its_loads_most() -> None:
    load = LOADS[4]
    found = fit_own(points([load], 1.5, 1.3))
    assert found.after is None
    assert found.before.tpot_median == pytest.approx(1 - 1 / 1.3, rel=1e-3)
    near = predicted(load, calibration=found.file)[1] / predicted(load)[1]
    far = predicted((128, 64, 512), calibration=found.file)[1] / predicted((128, 64, 512))[1]
    assert 1.1 < near < 1.3
    assert 1.0 < far < near


def test_points_that_were_left_out_are_nearer_after_the_fit() -> None:
    found = fit_own(points(LOADS, 1.4, 1.25))
    assert found.after.tpot_median < 0.25 * found.before.tpot_median
    assert found.after.ttft_median < 0.5 * found.before.ttft_median


def test_the_file_is_read_as_it_was_written(tmp_path) -> None:
    found = fit_own(points(LOADS[:2], 1.2, 1.1))
    path = tmp_path / "own.json"
    path.write_text(to_json(found.file))
    assert read(path) == found.file
    assert predicted(LOADS[0], calibration=path) == predicted(LOADS[0], calibration=found.file)


def test_other_stacks_answer_as_they_did() -> None:
    own = fit_own(points(LOADS[:2], 2.0, 2.0)).file
    load = ClosedLoop(concurrency=4, isl=512, osl=32)
    with_it, without = (
        synperf.estimate(MODEL, Plan(tp=2, engine="vllm"), load, "h200_sxm", calibration=file).times.tpot.mean
        for file in (own, None)
    )
    assert with_it == without


def test_points_without_room_for_all_clients_are_set_aside() -> None:
    crowded = replace(points(LOADS[:1], 1.0, 1.0), concurrency=np.array([100_00]), isl=np.array([8000]))
    with pytest.raises(FieldError, match="rows: no point whose clients all have room"):
        fit_own(crowded)


def test_times_shorter_than_reading_the_weights_are_refused() -> None:
    wrong = points(LOADS[:1], 1.0, 1e-3)
    with pytest.raises(FieldError, match=r"row: tpot_ms .* is less than half of the .* in which a100_sxm reads"):
        fit_own(wrong)
