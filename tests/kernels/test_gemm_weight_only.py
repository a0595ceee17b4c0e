"""GEMM with weights narrower than its activations: bytes, widening and tiles by hand, then laws over every GPU."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synperf
from synperf import DType, Gemm
from synperf.errors import UnsupportedError
from synperf.features import features
from synperf.hardware import keys
from synperf.kernels import family
from synperf.kernels.dispatch import canonical, engines, resolve
from synperf.kernels.gemm import compulsory_bytes, dram_bytes, tasks
from synperf.kernels.gemm_tiles import build
from synperf.kernels.gemm_tiling import choose
from tests.toys import A100, H100, TOY

from . import laws

GEMM = family("gemm")
MIXED = [d for d in DType if d.is_mixed]
SIZES = ("m", "n", "k", "batch")
MARLIN_ROWS, MARLIN_COLUMNS = {16, 32, 48, 64}, {64, 128, 256}
extent = st.one_of(st.integers(1, 300), st.integers(1, 40_000))


@st.composite
def calls(draw):
    """A call in a mixed format that the GPU multiplies, with an engine that has a kernel for it."""
    gpu = synperf.gpu(draw(st.sampled_from([key for key in keys() if "bf16" in synperf.gpu(key).dtypes()])))
    dtype = draw(st.sampled_from([d for d in MIXED if d.rate in gpu.dtypes()]))
    engine = draw(st.sampled_from([name for name in engines() if _has(name, dtype, gpu)]))
    m, n, k, batch = draw(extent), draw(extent), draw(extent), draw(st.integers(1, 8))
    return gpu, Gemm(m=m, n=n, k=k, batch=batch, dtype=dtype, engine=engine)


def _has(engine, dtype, gpu):
    try:
        resolve("gemm", dtype, gpu.compute_capability, engine, None)
    except UnsupportedError:
        return False
    return True


@pytest.mark.parametrize(
    ("dtype", "a_bytes", "b_bytes"),
    [
        ("int4", 2, 0.5 + 2 / 128),
        ("int4_fp8", 1, 0.5 + 2 / 128),
        ("mxfp4", 2, 0.5 + 1 / 32),
        ("mxfp4_fp8", 1 + 1 / 32, 0.5 + 1 / 32),
    ],
)
def test_weights_are_half_a_byte_and_their_share_of_a_scale(dtype, a_bytes, b_bytes):
    p = Gemm(m=16, n=256, k=1024, dtype=dtype, engine="plain")
    assert compulsory_bytes(p) == 16 * 1024 * a_bytes + 256 * 1024 * b_bytes + 16 * 256 * 2


def test_weights_stay_narrow_until_registers_where_two_multiply_adds_widen_each():
    p = Gemm(m=16, n=128, k=1024, dtype="int4", engine="plain", tile_m=16, tile_n=128, tile_k=64, split_k=1)
    t = tasks(p, TOY, choose(p, TOY))
    assert (t.count, t.tensor_flop, t.fma_flop) == (1, 2 * 16 * 128 * 1024, 4 * 128 * 1024)
    assert t.load_bytes == 16 * 1024 * 2 + 128 * 1024 * (0.5 + 2 / 128)
    assert t.shared_bytes == (16 * 2 + 128 * 0.5) * 1024


def test_where_fma_multiplies_it_widens_too():
    gpu = replace(TOY, tensor_flop_per_clk_per_sm={}, fma_flop_per_clk_per_sm={DType.FP32: 100.0, DType.BF16: 100.0})
    p = Gemm(m=16, n=128, k=1024, dtype="int4", engine="plain", tile_m=16, tile_n=128, split_k=1)
    assert tasks(p, gpu, choose(p, gpu)).fma_flop == (2 * 16 + 4) * 128 * 1024


def test_a_product_of_one_width_widens_nothing():
    p = Gemm(m=16, n=128, k=1024, engine="plain")
    assert tasks(p, TOY, choose(p, TOY)).fma_flop == 0.0


@pytest.mark.parametrize("gpu", [A100, H100])
@pytest.mark.parametrize(("m", "rows"), [(1, 16), (17, 32), (33, 48), (64, 64), (4096, 64)])
def test_marlin_has_its_own_tiles_on_every_architecture(gpu, m, rows):
    t = choose(Gemm(m=m, n=4096, k=4096, dtype="int4", engine="vllm"), gpu)
    assert t.tile_m == rows
    assert (t.tile_n in MARLIN_COLUMNS, t.tile_k, t.cluster_m, t.cluster_n) == (True, 64, 1, 1)
    assert not t.tile.persistent


def test_a_column_of_calls_has_marlins_tiles_too():
    t = choose(Gemm(m=np.arange(1, 200), n=4096, k=4096, dtype="int4", engine="vllm"), A100)
    assert set(t.tile_m) == MARLIN_ROWS
    assert set(t.tile_n) <= MARLIN_COLUMNS


def test_a_tile_that_marlin_does_not_ship_is_made_of_mma_sync():
    p = Gemm(m=256, n=4096, k=4096, dtype="int4", engine="vllm", tile_m=128, tile_n=128)
    assert choose(p, H100).tile == build(H100, DType.INT4, 128, 128, 64, mma_sync=True)
    assert choose(replace(p, engine="plain"), H100).tile.persistent


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
def test_slices_of_k_add_up_in_turn_without_another_launch(engine):
    p = Gemm(m=1, n=128, k=65536, dtype="int4", engine=engine)
    assert choose(p, A100).split_k > 1
    assert features(GEMM, p, A100).reduction_s == 0.0


@pytest.mark.parametrize(
    ("engine", "dtype", "capability", "kernel"),
    [
        ("vllm", "int4", "8.6", "marlin"),
        ("vllm", "int4", "9.0", "marlin"),
        ("vllm", "mxfp4", "10.0", "marlin"),
        ("vllm", "int4_fp8", "9.0", "cutlass_w4a8"),
        ("sglang", "int4", "8.0", "marlin"),
        ("trtllm", "int4", "8.0", "fpa_intb"),
        ("trtllm", "int4_fp8", "8.9", "fpa_intb"),
        ("plain", "mxfp4_fp8", "8.9", "plain"),
        (None, "int4", "8.6", "marlin"),
    ],
)
def test_an_engine_has_its_kernel_for_a_format(engine, dtype, capability, kernel):
    assert resolve("gemm", DType(dtype), capability, engine, None)[1] == kernel


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("MarlinLinearKernel", "marlin"),
        ("MacheteLinearKernel", "machete"),
        ("trt_flow_/weight_only_quant_matmul_L257/PLUGIN_V2_WeightOnlyQuantMatmul_0", "fpa_intb"),
    ],
)
def test_tables_names_mean_these_kernels(name, kernel):
    assert canonical("gemm", name, DType.INT4) == kernel


def test_a_gpu_before_marlin_is_told_what_would_do():
    with pytest.raises(UnsupportedError, match=r"^engine: vllm has no gemm kernel for int4; right would be plain$"):
        resolve("gemm", DType.INT4, "7.0", "vllm", None)


@pytest.mark.parametrize(("engine", "capability", "per_value"), [("vllm", "9.0", 5), ("trtllm", "8.9", 3)])
def test_activations_are_quantised_before_they_meet_int4_in_fp8(engine, capability, per_value):
    gpu = replace(H100, compute_capability=capability)
    p = Gemm(m=64, n=64, k=64, dtype="int4_fp8", engine=engine)
    assert dram_bytes(p, gpu) - dram_bytes(replace(p, engine="plain"), gpu) == per_value * 64 * 64


def test_one_row_reads_its_weights_in_a_quarter_of_the_time():
    times = [
        synperf.predict(Gemm(m=1, n=65536, k=8192, dtype=dtype, engine="vllm"), "a100_sxm", origin="analytical").time_s
        for dtype in ("bf16", "int4")
    ]
    assert times[0] / times[1] == pytest.approx(2 / (0.5 + 2 / 128), rel=0.05)


@given(calls())
@settings(max_examples=200)
def test_estimates_are_finite_ordered_and_of_all_work(drawn):
    gpu, call = drawn
    laws.require_ordered(laws.predict(call, gpu))
    laws.require_all_work(GEMM, call, gpu)


@given(calls())
@settings(max_examples=200)
def test_a_column_of_one_is_the_call(drawn):
    gpu, call = drawn
    laws.require_column_as_call(call, gpu, SIZES)


@given(calls(), st.sampled_from(SIZES), st.floats(0, 1))
@settings(max_examples=400)
def test_time_never_falls_when_a_size_grows(drawn, name, how):
    gpu, call = drawn
    size = getattr(call, name)
    laws.require_never_less(call, gpu, **{name: size + 1 + int(how * size)})


@pytest.mark.parametrize("name", ["m", "n", "k"])
@pytest.mark.parametrize("key", ["a100_sxm", "rtx_3090", "h100_sxm", "b200_sxm"])
def test_time_never_falls_along_a_fine_ladder(key, name):
    sizes = {"m": 17, "n": 1000, "k": 4096} | {name: np.arange(1, 3000)}
    laws.require_rising(Gemm(**sizes, dtype="int4", engine="vllm"), synperf.gpu(key))


@given(calls(), st.sampled_from(laws.RESOURCES), st.floats(1.001, 20))
@settings(max_examples=300)
def test_more_of_a_resource_slows_nothing(drawn, field, factor):
    gpu, call = drawn
    laws.require_never_slower(call, gpu, field, factor)
