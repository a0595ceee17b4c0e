"""Waves of tiles at a learned utilization."""

import numpy as np
import pytest

from synperf.kernels.gemm import Gemm
from synperf.training.baselines.neusight import columns, recipe

from ...toys import TOY
from .toy_rows import DEVICES, TWIN, rows

torch = pytest.importorskip("torch", reason="NeuSight's network is of the extra [train]")
utilization = pytest.importorskip("synperf.training.baselines.nets.utilization")


def test_at_full_utilization_a_wave_is_a_tile_at_the_rate_of_an_sm():
    tile = {"tile_m": 128, "tile_n": 128, "tile_k": 64, "split_k": 1}
    # 10 tiles on 10 SMs, then 20: 2 x 128 x 128 x 8192 FLOP each, at 1000 FLOP per clock and 1 GHz
    one, two = (columns(Gemm(m=128 * tiles, n=128, k=8192, **tile), TOY) for tiles in (10, 20))
    assert (one[1], two[1]) == (1, 2)
    assert two[0] == pytest.approx(2 * 2 * 128 * 128 * 8192 / 1e12)


def test_utilization_is_above_0_and_below_1_whatever_the_network_says():
    net = utilization.network(4)
    waves = torch.tensor([1.0, 2.0, 1000.0])
    found = utilization.utilization(net, 8 * torch.randn(3, 4, generator=torch.manual_seed(0)), waves)
    assert ((found > 0) & (found < 1)).all()


def test_a_constant_utilization_comes_out_on_another_gpu_too():
    predict = recipe(max_epochs=150).fit(rows(lambda call, gpu: columns(call, gpu)[0] / 0.6), DEVICES, 0)
    other = rows(lambda call, gpu: columns(call, gpu)[0] / 0.6, gpu=TWIN)
    assert np.median(np.abs(predict(other, DEVICES) / other.time_s - 1)) < 0.1
