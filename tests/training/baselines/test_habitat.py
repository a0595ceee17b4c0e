"""Wave scaling."""

from dataclasses import replace

import numpy as np
import pytest

from synperf.measurements import Rows
from synperf.training.baselines.habitat import RECIPE, Origin, chosen, gamma, scale
from synperf.training.baselines.roofline import columns

from ...toys import A100, H100, TOY
from .toy_rows import DEVICES, EXTENTS, TWIN, rows

pytest.importorskip("scipy", reason="wave scaling is of the extra [train]")


def test_ten_milliseconds_on_a100_are_about_six_on_h100():
    assert [10 * scale(g, A100, H100) for g in (1, 0.5, 0)] == pytest.approx([6.082, 6.192, 6.304], abs=1e-3)


def test_gamma_is_one_half_at_the_ridge():
    assert gamma(np.array([0.5, 1.0, 2.0, 4.0])).tolist() == [0.75, 0.5, 0.25, 0.125]


def test_a_measured_shape_takes_half_as_long_on_twice_the_gpu():
    measured = rows(np.linspace(1e-6, 1e-3, len(EXTENTS)))
    predict = RECIPE.fit(measured, DEVICES, 0)
    assert predict(rows(1.0, gpu=TWIN), DEVICES) == pytest.approx(measured.time_s / 2)


def test_a_shape_between_has_the_slowdown_of_its_neighbours():
    predict = RECIPE.fit(rows(lambda call, gpu: 3 * columns(call, gpu)[0]), DEVICES, 0)
    between = rows(lambda call, gpu: 3 * columns(call, gpu)[0], extents=[(90, 300, 700), (2, 100, 100)], gpu=TWIN)
    assert predict(between, DEVICES) == pytest.approx(between.time_s)


def test_the_origin_is_another_gpu_even_where_its_own_rows_are_there():
    both = Rows.join([rows(8e-6), rows(1e-6, gpu=TWIN)])
    assert RECIPE.fit(both, DEVICES, 0)(both, DEVICES) == pytest.approx(np.repeat([2e-6, 4e-6], len(both) // 2))


def test_the_nearest_gpu_comes_before_the_same_engine():
    def origin(gpu, engine="vllm"):
        return Origin(gpu=gpu, engine=engine, dtype="bf16", shapes=None, log_slowdown=np.zeros(1))

    near = replace(TOY, key="near", num_sms=12)
    origins = [origin(TOY), origin(TWIN, "sglang"), origin(near), origin(near, "trtllm")]
    found = [chosen(origins, TOY, engine) for engine in ("vllm", "trtllm", "sglang")]
    assert [one.gpu.key for one in found] == ["near", "near", "near"]
    assert [one.engine for one in found] == ["vllm", "trtllm", "trtllm"]  # without the same engine, by name


def test_shapes_of_one_row_have_a_tree_where_torch_flushes_denormals():
    """SciPy splits at the number after the smallest one, again and again where that is 0 and no number is after it."""
    torch = pytest.importorskip("torch", reason="what flushes denormals")
    thin = rows(1e-6, extents=[(1, 64 * n, 64) for n in range(1, 40)] + [(2**20, 64, 64)])
    torch.set_flush_denormal(True)
    try:
        assert RECIPE.fit(thin, DEVICES, 0)(thin, DEVICES) == pytest.approx(thin.time_s)
    finally:
        torch.set_flush_denormal(False)
