"""Linear regression on the paper's features."""

from dataclasses import replace

import numpy as np
import pytest

from synperf import paper
from synperf.training.baselines.linear import RECIPE, weights

from .toy_rows import DEVICES, TWIN, rows

pytest.importorskip("scipy", reason="the linear baseline is of the extra [train]")
FAST = replace(TWIN, key="fast", clock_hz=2e9)


def cycles(call, gpu):
    vector = paper.vector(call, gpu)
    return 2000 + 1.5 * vector["sm_max_tensor_cycles"] + 0.5 * vector["dram_cycles"]


def test_cycles_that_are_a_sum_of_features_come_out_on_every_gpu():
    predict = RECIPE.fit(rows(lambda call, gpu: cycles(call, gpu) / 1e9), DEVICES, 0)
    fast = rows(lambda call, gpu: cycles(call, gpu) / 2e9, gpu=FAST)
    assert predict(fast, DEVICES | {"fast": FAST}) == pytest.approx(fast.time_s, rel=1e-6)


def test_no_weight_is_below_0():
    x = np.arange(1.0, 11)
    found = weights(np.stack([np.full(10, 1e9), np.ones(10), x], axis=1), (20 - x) / 1e9)  # falls with x
    assert (found >= 0).all()
    assert found[1] == 0


def test_an_error_counts_as_a_share_of_the_time():
    # One weight w for 1 and 2 cycles: (w - 1)^2 + (w / 2 - 1)^2 is least at 1.2, without the shares at 1.5.
    table = np.stack([np.full(2, 1e9), np.ones(2)], axis=1)
    assert weights(table, np.array([1e-9, 2e-9])) == pytest.approx([1.2])
