"""Operators under the roofs of GPUs; user cases quote the question that they come from."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import synperf
from synperf import DType, FieldError, Gemm
from synperf.calculators import roofline as calculator
from synperf.calculators.operators import operators
from synperf.calculators.operators.asked import parse, work
from synperf.calculators.roofline import roofline
from synperf.calculators.roofs.point import BALANCED, COMPUTE, MEMORY, bound, point
from synperf.kernels import families
from tests.cli.runner import assert_refused, invoke

A100 = synperf.gpu("a100_sxm")
POINTWISE = 2 * 3136 * 64 * 64 / 4 / (2 * 3136 * 64 + 64 * 64)  # 64 channels to 64, at 56 x 56 points, in fp32


def intensity(text):
    return point(work(parse(text)[1], A100), A100).intensity_flop_per_byte


@pytest.mark.parametrize(
    ("text", "flop_per_byte"),
    [
        ("gemm,m=1024,n=1024,k=1024,dtype=fp32", 170.67),  # n / 6
        ("gemm,m=512,n=512,k=512,dtype=fp32", 512 / 6),
        ("elementwise,elements=1048576,inputs=2,dtype=fp32", 1 / 12),  # a sum of two vectors
        ("elementwise,elements=1048576,dtype=fp32", 1 / 8),  # ReLU
        ("transpose,rows=1024,dim=1024,dtype=fp32", 0.0),
        ("conv,batch=1,in_channels=64,out_channels=64,height=56,width=56,kernel_h=1,kernel_w=1,dtype=fp32", POINTWISE),
        ("conv1d,batch=1,in_channels=64,out_channels=64,size=3136,kernel=1,dtype=fp32", POINTWISE),
    ],
)
def test_arithmetic_intensity_is_flop_over_compulsory_bytes(text, flop_per_byte):
    assert intensity(text) == pytest.approx(flop_per_byte, rel=1e-4)


RIDGES = {
    "a100_sxm": 152.95, "h100_sxm": 295.15, "h800": 295.15, "l40": 209.5, "rtx_6000_ada": 379.4, "a40": 215.0,
    "rtx_a6000": 201.6,
}  # fmt: skip


@pytest.mark.parametrize(("gpu", "ridge"), RIDGES.items())
def test_ridges_of_bf16(gpu, ridge):
    device = synperf.gpu(gpu)
    at = point(calculator.given(1e12, 1e9, DType.BF16), device)
    assert at.ridge_flop_per_byte == pytest.approx(ridge, rel=3e-3)
    assert at.attainable_flop_per_s == min(at.peak_flop_per_s, 1000 * device.dram_bytes_per_s)


def test_the_ridge_of_single_precision_on_a_v100():
    at = point(calculator.given(1e12, 1e9, DType.FP32), synperf.gpu("v100_sxm"))
    assert at.ridge_flop_per_byte == pytest.approx(17.4, rel=1e-3)


def test_at_the_ridge_neither_side_bounds():
    assert (bound(1, 2), bound(3, 2), bound(2, 2)) == (MEMORY, COMPUTE, BALANCED)
    ridge = A100.ridge_flop_per_byte(DType.BF16)
    found = roofline(A100, [calculator.given(ridge * 1e9, 1e9, DType.BF16)])
    assert found.points[0].bound == BALANCED
    assert found.points[0].compute_s == pytest.approx(found.points[0].memory_s)


def test_square_products_of_1024_are_bound_by_math_on_a_v100():
    device = synperf.gpu("v100_sxm")
    at = roofline(device, [Gemm(m=1024, n=1024, k=1024, dtype=DType.FP32)]).points[0]
    assert at.bytes == 12_582_912
    assert at.memory_s == pytest.approx(13.98e-6, rel=1e-3)
    assert at.compute_s == pytest.approx(136.8e-6, rel=3e-3)
    assert (at.bound, at.time_s) == (COMPUTE, at.compute_s)


CONV = "conv,batch=64,in_channels=256,out_channels=256,height=56,width=56,kernel_h=3,kernel_w=3,dtype=fp16"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("gemm,m=8192,n=8192,k=8192,dtype=fp32", "tf32 on tensor cores: 156 TFLOP/s"),
        ("gemm,m=16,n=8192,k=8192,dtype=bf16", "a larger m: "),
        ("rmsnorm,rows=4096,dim=4096", "fuse it with its neighbours"),
        (CONV, "another algorithm: "),
        ("gemm,m=16,n=16,k=16", "put "),
    ],
)
def test_each_side_has_its_direction(call, said):
    advice = roofline(A100, [parse(call)[1]]).advice
    assert any(one.startswith(said) for one in advice), advice


def test_a_larger_extent_that_is_advised_is_the_least_that_reaches_the_ridge():
    small = Gemm(m=16, n=8192, k=8192)
    found = next(one for one in roofline(A100, [small]).advice if one.startswith("a larger m"))
    least = int(found.split(": ")[1].split(" ")[0].replace(",", ""))
    bounds = [roofline(A100, [replace(small, m=m)]).points[0].bound for m in (least - 1, least)]
    assert bounds == [MEMORY, COMPUTE]


def test_recurrent_layers_reach_the_ridge_at_large_batches_only():
    layer = "lstm,seq_len=100,input_size=1024,hidden=1024,batch="
    rising = [intensity(layer + str(batch)) for batch in (1, 16, 256, 4096)]
    assert rising == sorted(rising)
    assert rising[0] < 3
    assert rising[-1] > A100.ridge_flop_per_byte(DType.BF16)
    assert intensity(f"{layer}1,persistent=true") > 20 * rising[0]


def test_an_lstm_has_four_gates_a_gru_three():
    calls = [parse(f"{name},batch=1,seq_len=1,input_size=8,hidden=4")[1] for name in ("rnn", "gru", "lstm")]
    assert [work(call, A100).flop for call in calls] == [2 * 4 * 12, 3 * 2 * 4 * 12, 4 * 2 * 4 * 12]


def test_a_transposed_convolution_is_the_convolution_the_other_way_round():
    up = parse("conv_transpose,batch=1,in_channels=8,out_channels=4,size=7x7,kernel=4,stride=2,padding=1")[1]
    sides = "height=14,width=14,kernel_h=4,kernel_w=4"
    down = parse(f"conv,batch=1,in_channels=4,out_channels=8,{sides},stride=2,padding=1")[1]
    assert up.result() == (14, 14)
    assert (down.out_height, down.out_width) == (7, 7)
    assert work(up, A100).flop == work(down, A100).flop


def test_three_sides_are_two_with_one_of_length_one():
    channels = "batch=2,in_channels=8,out_channels=4,groups=2"
    flat = parse(f"conv,{channels},height=14,width=10,kernel_h=3,kernel_w=3,dilation=2")[1]
    deep = parse(f"conv3d,{channels},size=1x14x10,kernel=1x3x3,dilation=1x2x2")[1]
    assert work(flat, A100).flop == work(deep, A100).flop


@pytest.mark.parametrize("name", sorted(families()))
def test_every_family_has_a_place_under_the_roof(name):
    at = roofline(synperf.gpu("h100_sxm"), [families()[name].example]).points[0]
    assert at.time_s == max(at.compute_s, at.memory_s) > 0
    assert at.levels["dram"].ridge_flop_per_byte == pytest.approx(at.ridge_flop_per_byte)


EXAMPLES = {
    "rnn": "batch=2,seq_len=3,input_size=4,hidden=5",
    "gru": "batch=2,seq_len=3,input_size=4,hidden=5,layers=2",
    "lstm": "batch=2,seq_len=3,input_size=4,hidden=5",
    "pool": "batch=1,channels=2,height=8,width=8,kernel=2",
    "batchnorm": "batch=1,channels=2,height=8,width=8,training=true",
    "conv1d": "batch=1,in_channels=2,out_channels=2,size=8,kernel=3",
    "conv3d": "batch=1,in_channels=2,out_channels=2,size=8x8x8,kernel=3",
    "conv_transpose": "batch=1,in_channels=2,out_channels=2,size=8x8,kernel=3",
}


def test_every_operator_by_formula_has_a_place_too():
    assert EXAMPLES.keys() == operators().keys()
    for name, fields in EXAMPLES.items():
        at = roofline(A100, [parse(f"{name},{fields}")[1]]).points[0]
        assert min(at.flop, at.bytes) > 0
        assert at.levels["l2"].time_s is None


@given(st.floats(0, 1e20), st.floats(1, 1e15))
def test_no_rate_is_above_a_roof(flop, moved):
    at = point(calculator.given(flop, moved, DType.BF16), A100)
    assert at.attainable_flop_per_s <= at.peak_flop_per_s
    assert at.time_s >= max(at.compute_s, at.memory_s)
    if flop > 1e-3:
        assert flop / at.time_s == pytest.approx(at.attainable_flop_per_s)


# https://github.com/triton-lang/triton/issues/319: 75 TFLOP/s on a card whose data sheet says 142
def test_a_rate_above_the_rated_peak_is_explained_by_the_clock():
    device = synperf.gpu("rtx_3090")
    call = Gemm(m=4096, n=4096, k=4096, dtype=DType.FP16)
    at = roofline(device, [call, call], [75e12, 110e12]).points
    assert at[0].peak_flop_per_s == pytest.approx(71.2e12, rel=1e-3)
    assert at[0].achieved.of_peak == pytest.approx(1.054, rel=1e-3)
    assert at[0].achieved.clock_hz == pytest.approx(1786e6, rel=1e-3)
    assert (at[0].achieved.possible, at[1].achieved.possible) == (True, False)
    a6000 = roofline(synperf.gpu("rtx_a6000"), [call]).points[0]
    assert a6000.peak_flop_per_s == pytest.approx(154.8e12, rel=1e-3)


def test_its_command_says_so():
    ops = ("--op", "gemm,m=4096,n=4096,k=4096,dtype=fp16") * 2
    seen = invoke("roofline", "--gpu", "rtx_3090", *ops, "--achieved", "75TFLOP/s", "--achieved", "110e12")
    said = " ".join(seen.out.split())
    assert "75 TFLOP/s are 105.4 % of the peak of 71.2 TFLOP/s at the rated clock: at the roof" in said
    assert "which takes a clock of 1.786 GHz or more; the GPU reaches 2.1 GHz" in said
    assert "110 TFLOP/s are 154.6 % of the peak" in said
    assert "the 142 TFLOPS also printed for fp16 are with FP16 accumulation" in said


# https://github.com/pytorch/pytorch/issues/80838: bf16 is no faster than fp32 at 100 x 100
def test_no_format_helps_a_call_that_is_shorter_than_its_launch():
    small = [Gemm(m=100, n=100, k=100, dtype=dtype) for dtype in (DType.FP32, DType.BF16)]
    fp32, bf16 = roofline(A100, small).points
    assert (fp32.flop, bf16.flop) == (2e6, 2e6)
    assert fp32.compute_s == pytest.approx(0.103e-6, rel=0.02)
    assert bf16.compute_s == pytest.approx(0.0064e-6, rel=0.02)
    assert bf16.memory_s == pytest.approx(0.03e-6, rel=0.02)
    assert fp32.limiter == bf16.limiter == "launch"
    assert 0.9 <= fp32.with_launch_s / bf16.with_launch_s <= 1.1


def test_its_command_says_that_nothing_can_show():
    ops = [part for dtype in ("fp32", "bf16") for part in ("--op", f"gemm,m=100,n=100,k=100,dtype={dtype}")]
    said = " ".join(invoke("roofline", "--gpu", "a100_sxm", *ops).out.split())
    assert "the call is bound by launch and host" in said
    assert "gemm bf16 (2) gains 1.02 times over gemm fp32 (1) with launches" in said


NUMBERS = ("--flop", "1", "--bytes", "1")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "op: none given"),
        (("--op", "gem,m=1,n=1,k=1"), "op: no operator named 'gem'; nearest: gemm"),
        (("--op", ""), "op: no operator named ''"),
        (("--op", "gemm"), "op: gemm: missing m, n, k"),
        (("--op", "gemm,m=0,n=1,k=1"), "op: m must be a whole number from 1"),
        (("--op", "gemm,m=1,n=1,q=1"), "op: gemm: no field named 'q'"),
        (("--op", "gemm,m=1,m=2,n=1,k=1"), "op: m is given twice"),
        (("--op", "gemm,m=1,n=1,k=1,dtype=fp9"), "op: dtype: no dtype named 'fp9'"),
        (("--op", "gemm,m=1,n=1,k=1,dtype=nvfp4"), "dtype: A100 SXM 80GB has no nvfp4 math"),
        (("--op", "conv3d,batch=1,in_channels=1,out_channels=1,size=8x8,kernel=1"), "op: size must have 3 sides"),
        (("--op", "conv1d,batch=1,in_channels=1,out_channels=1,size=8,kernel=9"), "op: kernel must fit"),
        (("--op", "conv1d,batch=1,in_channels=1,out_channels=1,size=8,kernel=1x1"), "op: kernel must have 1 number"),
        (("--op", "conv1d,batch=1,in_channels=3,out_channels=4,size=8,kernel=1,groups=2"), "op: groups must divide"),
        (("--op", "pool,batch=1,channels=1,height=2,width=2,kernel=3"), "op: kernel must be at most"),
        (("--op", "lstm,batch=1,seq_len=x,input_size=4,hidden=4"), "op: seq_len must be a whole number"),
        (("m=1",), "op: none given for 'm=1'"),
        (("--flop", "1e9"), "bytes: none given"),
        (("--bytes", "1e9"), "flop: none given"),
        (("--flop", "-1", "--bytes", "1"), "flop must be 0 to"),
        (("--flop", "1", "--bytes", "0"), "bytes must be 1 to"),
        (("--flop", "nan", "--bytes", "1"), "flop: 'nan' is not a number"),
        (("--flop", "1e300", "--bytes", "1"), "flop must be 0 to"),
        (("--flop", "1", "--bytes", "1s"), "bytes: '1s' is in s"),
        ((*NUMBERS, "--dtype", "fp7"), "dtype: no dtype named"),
        ((*NUMBERS, "--achieved", "0"), "achieved must be above 0"),
        ((*NUMBERS, "--achieved", "fast"), "achieved: 'fast' is not a number"),
        ((*NUMBERS, "--achieved", "1", "--achieved", "1"), "achieved has 2 values for 1 operators"),
    ],
)
def test_bad_input_is_named(arguments, named):
    seen = invoke("roofline", "--gpu", "a100_sxm", *arguments)
    assert_refused(seen)
    assert seen.err.startswith(f"synperf: {named}"), seen.err


def test_columns_are_refused():
    with pytest.raises(FieldError, match="op: one call of an operator is needed"):
        roofline(A100, [Gemm(m=[1, 2], n=1, k=1)])
