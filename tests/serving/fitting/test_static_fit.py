"""Factors of static batches come out of batches that were made with them."""

from dataclasses import replace

import numpy as np
import pytest

from synperf.hardware.power import Power
from synperf.serving.factors import ITERATION, Factors
from synperf.serving.fitting import static_fit
from synperf.serving.fitting.static_fit import Batches, Priced, StaticFit

TRUTH = Factors(
    decode_kernels=0.9, decode_attention=1.2, prefill_kernels=1.1, prefill_attention=0.8, collectives=0.7,
    decode_host_s=2e-3, prefill_host_s=4e-3,
)  # fmt: skip
NAMES = ("h100_sxm", "a100_sxm", "l20")
LIMITS = [Power(efficiency=one, flop_per_s_per_w={}) for one in (0.5, 1.0)]


def made(rows: int, own: dict[str, tuple[float, float]]) -> Batches:
    """Batches whose parts are drawn at random, and whose times are those of the factors, and of the GPU's own."""
    draw = np.random.default_rng(0)
    gpus = np.array([NAMES[at % len(NAMES)] for at in range(rows)])
    columns = {phase: np.zeros((rows, len(ITERATION))) for phase in ("prefill", "decode")}
    for phase, found in columns.items():
        scale = 1.0 if phase == "prefill" else 0.02
        for name, most in ((f"{phase}_kernels", 1.0), (f"{phase}_attention", 0.4), ("collectives", 0.3)):
            found[:, ITERATION.index(name)] = scale * most * draw.uniform(0.2, 1.0, rows)
        found[:, ITERATION.index(f"{phase}_host_s")] = 1.0
    fit = StaticFit(LIMITS[0], np.array([*TRUTH.of_iterations(), 0.0, 0.0, 0.0]), own)
    empty = Batches(gpus, *columns.values(), np.zeros((rows, 2)), np.ones(rows), np.ones(rows))
    return replace(empty, **dict(zip(("prefill_s", "step_s"), fit.times(empty), strict=True)))


class Given(Priced):
    """Batches that are given at every point of a grid: those of the second are all too long."""

    def __init__(self, batches: Batches) -> None:
        super().__init__(runs=[])
        longer = replace(batches, prefill=batches.prefill * np.linspace(1, 3, len(batches))[:, None])
        object.__setattr__(self, "batches", [(LIMITS[0], batches), (LIMITS[1], longer)])


def test_factors_of_all_come_out_and_the_better_point_of_the_grid_is_taken() -> None:
    batches = made(60, {})
    fit = Given(batches).fitted(np.ones(60, dtype=bool))
    assert fit.limits is LIMITS[0]
    found = fit.factors
    for name in ("decode_kernels", "prefill_kernels", "prefill_attention", "collectives"):
        assert getattr(found, name) == pytest.approx(getattr(TRUTH, name), abs=0.1)
    prefill_s, step_s = fit.times(batches)
    assert np.abs(prefill_s / batches.prefill_s - 1).max() < 0.03
    assert np.abs(step_s / batches.step_s - 1).max() < 0.03


def test_a_gpu_that_is_slower_has_a_factor_between_one_and_its_own() -> None:
    batches = made(60, {"l20": (1.3, 1.0)})
    fit = Given(batches).fitted(np.ones(60, dtype=bool))
    assert fit.gpus["l20"][0] > max(fit.gpus["h100_sxm"][0], fit.gpus["a100_sxm"][0])
    few = Given(batches).fitted(np.arange(60) < 6)
    assert few.gpus["l20"][0] < fit.gpus["l20"][0] * 1.05


def test_a_gpu_that_was_not_seen_has_the_factors_of_all() -> None:
    batches = made(60, {})
    fit = Given(batches).fitted(batches.gpus != "l20")
    assert set(fit.gpus) == {"h100_sxm", "a100_sxm"}
    assert np.isfinite(fit.times(batches)[0]).all()


def test_no_time_is_below_its_floor() -> None:
    batches = replace(made(6, {}), floors=np.full((6, 2), 100.0))
    prefill_s, step_s = Given(batches).fitted(np.ones(6, dtype=bool)).times(batches)
    assert prefill_s.min() == step_s.min() == 100.0


def test_the_grid_has_what_ships_among_its_points() -> None:
    shipped = static_fit.power()
    found = {(one.efficiency, *one.flop_per_s_per_w.values()) for one in static_fit.grid()}
    assert (shipped.efficiency, *shipped.flop_per_s_per_w.values()) in found
