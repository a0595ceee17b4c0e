"""Uses of values and traffic of tiles, worked out by hand."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import synperf
from synperf import DType, Gemm
from synperf.calculators.reuse import reuse
from synperf.kernels.conv_call import Conv
from tests.cli.runner import assert_refused, invoke

A100 = synperf.gpu("a100_sxm")
SQUARE = Gemm(m=1024, n=1024, k=1024, dtype=DType.FP32)
SAME = Conv(batch=32, in_channels=64, out_channels=128, height=56, width=56, kernel_h=3, kernel_w=3, padding=1)


def test_a_convolution_uses_its_image_nine_times_for_each_output_channel():
    found = reuse(A100, SAME)
    assert (found.input_reuse, found.weight_reuse) == (9, 100_352)
    assert found.input_uses == 9 * 128


def test_a_stride_of_two_leaves_a_quarter_of_the_uses():
    stem = Conv(
        batch=1, in_channels=3, out_channels=64, height=224, width=224, kernel_h=7, kernel_w=7, stride=2, padding=3
    )
    assert reuse(A100, stem).input_reuse == 12.25


def test_groups_use_the_image_for_their_own_output_channels():
    depthwise = Conv(
        batch=1, in_channels=64, out_channels=64, height=56, width=56, kernel_h=3, kernel_w=3, padding=1, groups=64
    )
    assert reuse(A100, depthwise).input_uses == 9


@pytest.mark.parametrize(("tile", "megabytes"), [("32", 272.63), ("64", 138.41), ("128", 71.30)])
def test_traffic_of_square_tiles(tile, megabytes):
    found = reuse(A100, SQUARE, [tile])
    assert found.tiles[0].bytes / 1e6 == pytest.approx(megabytes, abs=0.005)
    assert found.tiles[0].bytes == (2 * 1024**3 // int(tile) + 1024**2) * 4


def test_without_reuse_and_read_once():
    found = reuse(A100, SQUARE)
    assert found.no_reuse_bytes == pytest.approx(8.594e9, rel=1e-4)
    assert found.compulsory_bytes == 12_582_912
    assert (found.input_uses, found.weight_reuse) == (1024, 1024)


def test_bytes_are_told_in_both_units():
    said = invoke("reuse", "--gpu", "v100_sxm", "--op", "gemm,m=1024,n=1024,k=1024,dtype=fp32").out
    assert "read once     12.58 MB (12 MiB)" in said
    assert "no reuse      8.594 GB (8.004 GiB)" in said


def test_what_a_tile_holds_in_shared_memory():
    found = reuse(A100, Gemm(m=4096, n=4096, k=4096), ["128x128x32"], stages=3).tiles[0]
    assert (found.shared_bytes, found.accumulators, found.fits) == (49_152, 16_384, True)


def test_a_tile_that_does_not_fit_is_an_answer_with_the_stages_at_which_it_would():
    found = reuse(A100, Gemm(m=4096, n=4096, k=4096), ["128x256x64"], stages=4)
    assert (found.tiles[0].fits, found.tiles[0].shared_bytes) == (False, 4 * 64 * 384 * 2)
    assert "128x256x64 fits with 3 stages in the place of 4" in found.advice
    assert reuse(A100, Gemm(m=4096, n=4096, k=4096), ["128x256x64"], stages=3).tiles[0].fits


def test_the_kernels_own_tile_stands_beside_them():
    assert [one.is_own for one in reuse(A100, SQUARE, ["64"]).tiles] == [False, True]


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 300), st.integers(1, 64), st.integers(1, 64))
def test_tiles_move_what_counting_them_one_by_one_gives(m, n, k, tile_m, tile_n):
    found = reuse(A100, Gemm(m=m, n=n, k=k, dtype=DType.FP16), [f"{tile_m}x{tile_n}"])
    moved = m * n
    for row in range(0, m, tile_m):
        for column in range(0, n, tile_n):
            moved += k * (min(tile_m, m - row) + min(tile_n, n - column))
    assert found.tiles[0].bytes == 2 * moved
    assert found.compulsory_bytes <= found.tiles[0].bytes <= found.no_reuse_bytes


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "op: none given"),
        (("--op", "softmax,rows=1,dim=1"), "op: a single gemm or conv has uses to count, got softmax"),
        (("--op", "gemm,m=1,n=1,k=1", "--tile", "x"), "tile must be such as 64"),
        (("--op", "gemm,m=1,n=1,k=1", "--tile", "0"), "tile must be a whole number from 1"),
        (("--op", "gemm,m=1,n=1,k=1", "--tile", "99999999999"), "tile must be a whole number from 1"),
        (("--op", "gemm,m=1,n=1,k=1", *("--tile", "8") * 17), "tile must be given 1 to 16 times, got 17"),
        (("--op", "gemm,m=1,n=1,k=1", "--stages", "0"), "stages must be a whole number from 1"),
        (("--op", "gemm,m=-1,n=1,k=1"), "op: m must be a whole number"),
    ],
)
def test_bad_input_is_named(arguments, named):
    seen = invoke("reuse", "--gpu", "a100_sxm", *arguments)
    assert_refused(seen)
    assert seen.err.startswith(f"synperf: {named}"), seen.err


def test_no_gpu_is_named():
    seen = invoke("reuse", "--op", "gemm,m=1,n=1,k=1")
    assert_refused(seen)
    assert seen.err.startswith("synperf: gpu: none given")


def test_json_has_what_the_text_has():
    found = json.loads(invoke("reuse", "--gpu", "a100_sxm", "--op", "gemm,m=64,n=64,k=64", "--json").out)
    assert found["input_uses"] == found["weight_reuse"] == 64
    assert found["tiles"][0]["tile"] == "32x32x32"
