"""Expert layers with values worked out from the paper's figures: totals, the busiest SM, cycles, padding."""

import pytest

from synperf import FusedMoe
from synperf.estimators import analytical
from synperf.explanation import explanation
from synperf.kernels import family
from synperf.kernels.moe_loads import loads
from tests.toys import A100

MOE = family("fused_moe")
W13 = FusedMoe(
    tokens=1024, hidden=4096, inter=3072, experts=128, topk=8, dtype="bf16", engine="sglang", kernel="triton_w13"
)


@pytest.fixture(scope="module")
def explained():
    return explanation(MOE, W13, A100, analytical.estimate(MOE, W13, A100))


def test_every_expert_has_64_rows_in_one_tile_of_64(explained):
    own = loads(W13)
    assert (own.rows, own.active, own.hottest, own.tiles[64]) == (8192, 128, 64, 128)
    assert {name: explained.launch.choice[name] for name in ("tile_m", "tile_n", "tile_k")} == {
        "tile_m": 64,
        "tile_n": 128,
        "tile_k": 64,
    }


def test_the_grid_is_128_by_48_and_the_busiest_sm_has_57_tiles(explained):
    assert explained.launch.grid == (48, 128, 1)
    assert (explained.launch.tiles, explained.features.load.tasks) == (6144, 6144)
    assert explained.sm_max()["tasks"] == 57


def test_flop_and_cycles_are_those_of_the_paper(explained):
    assert explained.features.load.tasks * explained.task.tensor_flop == explained.features.flop == 412_316_860_416
    pipe = explained.pipes()["tensor"]
    assert pipe["gpu_cycles"] == pytest.approx(1_864_135, abs=0.5)
    assert pipe["sm_max_cycles"] == pytest.approx(1_867_776, rel=1e-12)


def test_loads_of_all_tasks_are_those_of_the_paper(explained):
    assert explained.features.load.tasks * explained.task.load_bytes == 9_663_676_416


def test_paper_efficiency_of_the_row_measured_on_a100(explained):
    measured_cycles = 4056.226e-6 * A100.clock_hz
    assert explained.pipes()["tensor"]["gpu_cycles"] / measured_cycles == pytest.approx(0.32594, abs=5e-6)


def test_128_useful_rows_of_16_tokens_take_2048_padded_ones():
    own = loads(FusedMoe(tokens=16, hidden=4096, inter=3072, experts=128, topk=8))
    assert (own.rows, 16 * own.tiles[16]) == (128, 2048)


@pytest.mark.parametrize(
    ("tokens", "tile"), [(128, (16, 128, 128)), (129, (32, 128, 128)), (257, (64, 128, 64)), (513, (64, 128, 64))]
)
def test_the_default_configuration_of_an_a100_goes_by_tokens(tokens, tile):
    chosen = MOE.launch(FusedMoe(tokens=tokens, hidden=2048, inter=768, experts=32, topk=4, kernel="triton_w13"), A100)
    assert (chosen.choice["tile_m"], chosen.choice["tile_n"], chosen.choice["tile_k"]) == tile
    assert chosen.choice_source == "default configuration"
