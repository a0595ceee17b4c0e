"""Work and traffic of a GEMM, worked out by hand on a GPU of round numbers."""

from dataclasses import replace

import pytest

from synperf.errors import UnsupportedError
from synperf.estimators.analytical import slowest
from synperf.features import features, floor
from synperf.hardware import Calibration, DType
from synperf.kernels import family
from synperf.kernels.dispatch import resolve
from synperf.kernels.gemm import Gemm, compulsory_bytes, dram_bytes, tasks
from synperf.kernels.gemm_tiles import build
from synperf.kernels.gemm_tiling import choose
from tests.toys import A100, H100, TOY

GEMM = family("gemm")
# 10 SMs of 80,000 registers hold 40,000 accumulators each, 400,000 in all: a block of C of 632.45 x 632.45
SQUARE = replace(TOY, registers_per_sm=80_000, l2_bytes=1e6)
BLACKWELL = replace(
    TOY, compute_capability="10.0", tensor_flop_per_clk_per_sm={DType.BF16: 1000.0, DType.NVFP4: 4000.0}
)


def test_what_fits_in_l2_is_read_once():
    p = Gemm(m=500, n=400, k=300)  # A 300,000 and B 240,000 bytes, together under 1e6
    assert dram_bytes(p, SQUARE) == compulsory_bytes(p) == 300_000 + 240_000 + 400_000


def test_what_does_not_fit_is_read_again_by_later_blocks():
    p = Gemm(m=2000, n=1000, k=500)  # A 2e6, B 1e6, C 4e6 bytes; a third of A and B fits
    passes_a, passes_b = 2, 4  # 1000 / 632.45 and 2000 / 632.45, rounded up
    repeated = (1 - 1e6 / 3e6) * ((passes_a - 1) * 2e6 + (passes_b - 1) * 1e6)
    assert dram_bytes(p, SQUARE) == pytest.approx(7e6 + repeated)


def test_a_flat_c_makes_the_block_wide_so_that_a_is_read_less_often():
    p = Gemm(m=100, n=10_000, k=5000)  # A 1e6, B 1e8 bytes; the block is 100 x 4,000
    missed = 1 - 1e6 / 1.01e8
    assert dram_bytes(p, SQUARE) == pytest.approx(compulsory_bytes(p) + missed * (3 - 1) * 1e6)


def test_products_of_a_batch_run_one_after_the_other():
    one = Gemm(m=2000, n=1000, k=500)
    assert dram_bytes(replace(one, batch=64), SQUARE) == pytest.approx(64 * dram_bytes(one, SQUARE))


def test_block_formats_carry_their_scales():
    assert compulsory_bytes(Gemm(m=16, n=16, k=16, dtype="nvfp4")) == 2 * 256 * (0.5 + 1 / 16) + 2 * 256
    assert compulsory_bytes(Gemm(m=128, n=128, k=128, dtype="fp8_block")) == 128**2 * (1 + 4 / 128 + 1 + 4 / 128**2 + 2)


@pytest.mark.parametrize(
    ("engine", "dtype", "per_value"),
    [
        ("plain", "fp8", 0),
        ("vllm", "fp8", 5),
        ("vllm", "fp8_block", 3),
        ("trtllm", "fp8", 5),
        ("trtllm", "fp8_block", 3),
    ],
)
def test_an_engine_that_quantises_first_moves_that_much_more(engine, dtype, per_value):
    p, q = Gemm(m=64, n=64, k=64, dtype=dtype, engine=engine), Gemm(m=64, n=64, k=64, dtype=dtype, engine="plain")
    assert dram_bytes(p, H100) - dram_bytes(q, H100) == per_value * 64 * 64
    assert bool(GEMM.assumptions(p, H100)) == bool(per_value)


def test_fp4_is_quantised_at_two_and_a_half_bytes_a_value():
    p, q = Gemm(m=64, n=64, k=64, dtype="nvfp4"), Gemm(m=64, n=64, k=64, dtype="nvfp4", engine="plain")
    assert dram_bytes(p, BLACKWELL) - dram_bytes(q, BLACKWELL) == (2 + 0.5 + 1 / 16) * 64 * 64


def test_traffic_of_one_task():
    p = Gemm(m=256, n=256, k=1000, tile_m=128, tile_n=64, tile_k=32, split_k=1)
    t = tasks(p, TOY, choose(p, TOY))
    assert (t.count, t.tensor_flop) == (8, 2 * 128 * 64 * 1024)  # 32 steps of 32
    assert (t.load_bytes, t.store_bytes) == ((128 + 64) * 1000 * 2, 128 * 64 * 2)
    assert (t.port_bytes, t.shared_bytes) == (t.load_bytes + t.store_bytes, (128 + 64) * 1024 * 2)


def test_an_edge_tile_loads_only_what_exists():
    p = Gemm(m=10, n=20, k=64, tile_m=128, tile_n=128, tile_k=64, split_k=1)
    assert tasks(p, TOY, choose(p, TOY)).load_bytes == (10 + 20) * 64 * 2


def test_a_slice_writes_and_reads_its_partial_sum_and_its_share_of_c():
    p = Gemm(m=128, n=128, k=1024, tile_m=128, tile_n=128, tile_k=64, split_k=4)
    t = tasks(p, TOY, choose(p, TOY))
    assert (t.count, t.load_bytes, t.store_bytes) == (4, 256 * 256 * 2, 128 * 128 * 2 / 4)
    assert t.port_bytes == 256 * 256 * 2 + 128 * 128 * (2 + 8)


def test_the_reduction_of_split_k_costs_a_launch_except_beside_dram():
    gpu = replace(TOY, calibration=Calibration(launch_floor_s={"cublas.bf16": 3e-6}))
    p = Gemm(m=128, n=128, k=1024, tile_m=128, tile_n=128, tile_k=64)
    whole, split = (features(GEMM, replace(p, split_k=s), gpu) for s in (1, 4))
    assert (whole.reduction_s, split.reduction_s) == (0.0, 3e-6)
    own = max(busy_s for name, busy_s in split.busiest_s.items() if name != "dram")
    assert slowest(split, 0.0)[1] == own + 3e-6
    assert slowest(replace(split, busiest_s={**split.busiest_s, "dram": 1.0}), 0.0)[1] == 1.0


def test_l2_serves_all_sms_together_and_one_sm_through_its_port():
    p = Gemm(m=128, n=128, k=1024, tile_m=128, tile_n=128, tile_k=64, split_k=1)
    loads = 256 * 1024 * 2 + 128 * 128 * 2
    demand = features(GEMM, p, TOY).pipes["l2"]
    assert demand.gpu_s == pytest.approx(loads / 1e13)
    assert demand.sm_max_s == pytest.approx(loads / 64e9)  # 64 bytes per clock at 1 GHz
    many = features(GEMM, replace(p, m=128_000), replace(TOY, l2_bytes_per_s=1e11)).pipes["l2"]
    assert many.sm_max_s == many.gpu_s == pytest.approx(1000 * loads / 1e11)


def test_multicast_spares_l2_but_not_the_port_except_for_pairs_of_blackwell():
    p = Gemm(m=4096, n=4096, k=4096, tile_m=128, tile_n=256, tile_k=64, split_k=1)
    for gpu, port in ((H100, 128 + 256), (BLACKWELL, 128 + 128)):
        t = choose(p, gpu)
        assert t.cluster_m > 1
        task = tasks(p, gpu, t)
        assert task.load_bytes == (128 / t.cluster_n + 256 / t.cluster_m) * 4096 * 2
        assert task.port_bytes == port * 4096 * 2 + 128 * 256 * 2


def test_slices_that_would_be_empty_are_not_launched_and_that_is_said():
    p = Gemm(m=512, n=512, k=1000, tile_m=64, tile_n=64, tile_k=64, split_k=7)  # 16 steps, 3 a slice
    assert choose(p, H100).split_k == 6
    assert GEMM.assumptions(p, H100) == (
        "split_k: fewer slices than given where k has no whole step of tile_k for each",
    )
    assert GEMM.assumptions(replace(p, split_k=4), H100) == ()


def test_of_equal_costs_the_tile_that_pads_less_is_taken():
    t = choose(Gemm(m=128, n=128, k=64, batch=4096), H100)
    assert t.tile_m * t.tile_n <= 128 * 128


@pytest.mark.parametrize(
    ("gpu", "tile", "stages"),
    [(A100, (128, 128, 32), 5), (A100, (128, 256, 64), 3), (H100, (128, 256, 64), 4), (A100, (256, 256, 64), None)],
)
def test_stages_are_what_fits_and_at_most_five(gpu, tile, stages):
    found = build(gpu, DType.BF16, *tile)
    assert (found and found.stages) == stages


def test_the_floor_is_at_the_highest_clock_and_leaves_l2_its_fill():
    gpu = replace(TOY, max_clock_hz=2e9)
    assert floor(gpu, DType.BF16, 1e13, 0.0) == 1e13 / (10 * 1000 * 2e9)
    assert floor(gpu, DType.BF16, 0.0, 5e7) == (5e7 - 1e7) / 1e12
    assert floor(gpu, DType.BF16, 0.0, 1e7) == 1e7 / 1e13


@pytest.mark.parametrize(
    ("kernel", "dtype"), [("deepgemm", "fp32"), ("deepgemm", "fp8"), ("cutlass_int8", "fp8"), ("cublas", "nvfp4")]
)
def test_a_kernel_takes_only_its_own_formats(kernel, dtype):
    with pytest.raises(UnsupportedError, match=rf"^kernel: {kernel} multiplies .*, not {dtype}"):
        resolve("gemm", DType(dtype), "10.0", None, kernel)


def test_a_gpu_that_no_tile_fits_is_told_with_what_it_has():
    with pytest.raises(UnsupportedError, match=r"no GEMM tile fits the SM of toy: .*registers_per_sm 100"):
        choose(Gemm(m=1, n=1, k=1), replace(TOY, registers_per_sm=100))
