"""What convolutions read, write and compute, worked out by hand, and which kernel does it."""

from dataclasses import replace

import pytest

import synperf
from synperf import Conv, Gemm
from synperf.features import features
from synperf.kernels import conv_layout
from synperf.kernels import gemm as gemm_family
from synperf.kernels.conv import FAMILY
from synperf.kernels.conv_work import implicit_gemm, input_reuse, operand_bytes, weight_reuse

SAME = Conv(
    batch=32, in_channels=64, out_channels=128, height=56, width=56, kernel_h=3, kernel_w=3, padding=1, dtype="fp32"
)
STEM = Conv(batch=1, in_channels=3, out_channels=64, height=224, width=224, kernel_h=7, kernel_w=7, stride=2, padding=3)
POINTWISE = replace(SAME, kernel_h=1, kernel_w=1, padding=0, layout="nhwc")
DEPTHWISE = replace(SAME, out_channels=64, groups=64)


def test_flop_and_bytes_are_those_of_the_sizes():
    assert FAMILY.flop(SAME) == 2 * 32 * 56 * 56 * 128 * 64 * 9
    assert FAMILY.compulsory_bytes(SAME) == 4 * (32 * 64 * 56 * 56 + 128 * 64 * 9 + 32 * 128 * 56 * 56)
    assert FAMILY.flop(DEPTHWISE) == 2 * 32 * 56 * 56 * 64 * 9
    assert FAMILY.compulsory_bytes(DEPTHWISE) == 4 * (2 * 32 * 64 * 56 * 56 + 64 * 9)


def test_the_floor_counts_one_product_for_each_pair_of_channels():
    """Winograd's algorithm multiplies less often than there are taps."""
    assert FAMILY.bound_flop(SAME) == FAMILY.flop(SAME) / 9
    gpu = synperf.gpu("t4")
    assert features(FAMILY, SAME, gpu).floor_s >= FAMILY.flop(SAME) / 9 / (8.2e12 * 1.1)


def test_values_that_no_kernel_position_covers_are_not_read():
    quarter = replace(POINTWISE, stride=2)
    assert operand_bytes(quarter)[0] == operand_bytes(POINTWISE)[0] / 4
    assert operand_bytes(replace(SAME, stride=3, padding=0, height=57, width=57))[0] == 4 * 32 * 64 * 57 * 57
    holes = replace(SAME, height=9, width=9, padding=0, stride=4, dilation=2)  # rows 0, 2, 4, and 4, 6, 8
    assert operand_bytes(holes)[0] == 4 * 32 * 64 * 5 * 5


@pytest.mark.parametrize(
    ("call", "reuse"), [(SAME, 9.0), (replace(STEM, height=224, width=224), 12.25), (POINTWISE, 1.0)]
)
def test_an_input_value_is_used_once_per_tap_and_result_point_over_input_points(call, reuse):
    assert input_reuse(call) == reuse
    assert FAMILY.launch(call, synperf.gpu("h100_sxm")).facts["input_reuse"] == reuse


def test_a_weight_is_used_once_per_point_of_the_results():
    assert weight_reuse(SAME) == 100_352
    assert FAMILY.launch(SAME, synperf.gpu("h100_sxm")).facts["weight_reuse"] == 100_352


def test_changing_the_layout_reads_and_writes_the_image():
    image = Conv(batch=1, in_channels=64, out_channels=64, height=56, width=56, kernel_h=1, kernel_w=1, dtype="fp32")
    moved = synperf.parse_call("transpose", {"rows": 64, "dim": 56 * 56, "dtype": "fp32"})
    assert conv_layout.moved_bytes(image) == 2 * 2 * 802_816
    assert conv_layout.moved_bytes(image) / 2 / 2039e9 == pytest.approx(0.787e-6, rel=1e-3)
    assert conv_layout.passes(image)[0] == replace(moved, engine="plain")


@pytest.mark.parametrize("key", ["h100_sxm", "t4", "b200_sxm"])
def test_tensor_cores_transpose_nchw_and_say_so(key):
    half = replace(SAME, dtype="fp16")
    nchw, nhwc = (
        synperf.predict(replace(half, layout=layout), key, origin="analytical") for layout in ("nchw", "nhwc")
    )
    assert nchw.time_s > nhwc.time_s
    assert any("nchw is transposed before and after, which moves 77.1 MB" in said for said in nchw.assumptions)
    assert not any("transposed" in said for said in nhwc.assumptions)


def test_plain_fp32_takes_both_layouts_as_they_are():
    times = [synperf.predict(replace(SAME, layout=one), "t4", origin="analytical").time_s for one in ("nchw", "nhwc")]
    assert times[0] == times[1]


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("key", ["a100_sxm", "h100_sxm", "b200_sxm"])
def test_a_1x1_convolution_is_a_gemm(key, dtype):
    gpu, call = synperf.gpu(key), replace(POINTWISE, dtype=dtype)
    product = Gemm(m=32 * 56 * 56, n=128, k=64, dtype=dtype, engine="torch")
    assert implicit_gemm(call) == product
    one, other = features(FAMILY, call, gpu), features(gemm_family.FAMILY, product, gpu)
    assert (one.flop, one.compulsory_bytes, one.dram_bytes) == (other.flop, other.compulsory_bytes, other.dram_bytes)
    assert one.busiest_s == other.busiest_s
    assert one.floor_s == other.floor_s


def test_groups_are_products_of_a_batch():
    grouped = replace(SAME, groups=4)
    assert implicit_gemm(grouped) == Gemm(m=32 * 56 * 56, n=32, k=16 * 9, batch=4, dtype="fp32", engine="torch")
    assert FAMILY.flop(grouped) == FAMILY.flop(SAME) / 4


def test_groups_narrower_than_a_fragment_run_a_direct_kernel():
    gpu = synperf.gpu("h100_sxm")
    for groups, is_direct in ((1, False), (8, False), (16, True), (64, True)):
        call = replace(SAME, out_channels=64, groups=groups, dtype="bf16")
        assert (FAMILY.decompose(call, gpu).tensor_flop == 0.0) == is_direct
        said = any("kernel: direct" in one for one in synperf.predict(call, gpu).assumptions)
        assert said == is_direct


def test_only_convolutions_that_were_measured_are_learned():
    """3 x 3 at every point in fp32, where Winograd's algorithm may run; columns of both are split."""
    columns = replace(SAME, groups=[1, 64], out_channels=64, stride=1)
    assert [synperf.predict(call, "t4").origin for call in (SAME, DEPTHWISE, POINTWISE, replace(SAME, stride=2))] == [
        "learned", "analytical", "analytical", "analytical",
    ]  # fmt: skip
    assert list(synperf.predict(columns, "t4").origin) == ["learned", "analytical"]


def test_a_depthwise_convolution_is_memory_bound():
    assert synperf.predict(replace(DEPTHWISE, dtype="bf16"), "h100_sxm", origin="analytical").limiter == "dram"
