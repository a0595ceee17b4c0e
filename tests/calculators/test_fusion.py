"""Fusion: itemised accesses, the decision with its occupancy, folded batch norms, waves of merged kernels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf import FieldError, gpu
from synperf.calculators.fusion import fold_batch_norm, fusion
from synperf.calculators.fusion_chain import operators
from synperf.calculators.horizontal_fusion import horizontal_fusion
from synperf.errors import UnknownNameError

A100 = gpu("a100_sxm")
POINTWISE = sorted(name for name, one in operators().items() if one.kind == "pointwise")


@pytest.mark.parametrize(("dtype", "each"), [("fp32", 16), ("fp16", 8)])
def test_conv_bn_relu_save_four_accesses_for_each_element(dtype, each):
    found = fusion(["conv", "bn", "relu"], elements=1000, dtype=dtype)
    assert (found.accesses_before, found.accesses_after, found.launches_saved) == (5, 1, 2)
    assert [(one.reads, one.writes) for one in found.before] == [(0, 1), (1, 1), (1, 1)]
    assert found.bytes_saved_per_element == each
    assert found.bytes_saved == 1000 * each
    assert found.decision == "fuse"
    assert "bn folds into the weights of conv" in found.advice[0]


def test_a_residual_is_read_fused_too():
    found = fusion(["gemm", "bias", "add"], elements=10)
    assert (found.accesses_before, found.accesses_after) == (1 + 2 + 3, 2)


@given(st.lists(st.sampled_from(POINTWISE), min_size=2, max_size=6))
def test_a_free_chain_reads_its_input_and_writes_its_output(names):
    found = fusion(names, elements=10)
    others = sum(operators()[name].others for name in names)
    assert found.accesses_after == 2 + others
    assert found.accesses_before == 2 * len(names) + others


def test_half_the_occupancy_is_worth_it_where_memory_is_what_is_saved():
    found = fusion(
        ["conv", "bn", "relu"], elements=1 << 26, dtype="fp32", gpu=A100, head_s=2e-4, threads=1024, registers=32
    )
    assert (found.occupancy_before, found.occupancy_after) == (1.0, 0.5)
    assert found.time_after_s == pytest.approx(4e-4)
    assert found.time_after_s < found.time_before_s
    assert found.decision == "fuse"


def test_half_the_occupancy_is_not_worth_it_where_little_is_saved():
    found = fusion(
        ["conv", "bn", "relu"], elements=1 << 16, dtype="fp32", gpu=A100, head_s=2e-4, threads=1024, registers=32
    )
    assert found.time_after_s > found.time_before_s
    assert found.decision == "do not fuse"


def test_registers_of_a_compiler_count_in_the_place_of_ours():
    found = fusion(["conv", "relu"], elements=10, gpu=A100, threads=1024, registers=32, registers_after=64)
    assert (found.registers_added, found.occupancy_after) == (32, 0.5)


def test_a_row_operator_behind_a_gemm_asks_for_whole_rows():
    assert fusion(["gemm", "softmax"], elements=10).decision == "fuse if one CTA holds whole rows"
    assert fusion(["add", "softmax"], elements=10).decision == "fuse"


def test_a_free_chain_is_faster_in_one_pass():
    found = fusion(["add", "gelu", "mul"], elements=1 << 24, gpu=A100)
    assert found.time_after_s < found.time_before_s


@pytest.mark.parametrize(
    ("names", "how", "said"),
    [
        (["conv"], {}, "chain must have from 2 to 64 operators"),
        (["relu", "conv"], {}, "conv computes from operands of its own and can only be the first"),
        (["conv", "relu"], {"elements": 0}, "elements"),
        (["conv", "relu"], {"dtype": "fp3"}, "dtype"),
        (["conv", "relu"], {"head_s": -1.0}, "head_s"),
        (["conv", "relu"], {"registers": 32}, "gpu: none given"),
        (["conv", "relu"], {"gpu": A100, "registers": 32, "threads": float("nan")}, "threads must be a whole number"),
        (["conv", "relu"], {"gpu": A100, "registers": 1.5}, "registers must be a whole number"),
        (["conv", "relu"], {"gpu": A100, "registers": 32, "shared_bytes": [1, 2]}, "shared_bytes must be one whole"),
        (["conv", "relu"], {"registers_after": 32}, "registers: none given"),
    ],
)
def test_bad_input_is_named(names, how, said):
    with pytest.raises(FieldError, match=said):
        fusion(names, **({"elements": 10} | how))


def test_an_unknown_operator_is_named():
    with pytest.raises(UnknownNameError, match="chain: no operator named 'relo'; nearest: relu"):
        fusion(["conv", "relo"], elements=10)


def test_a_folded_batch_norm_does_what_it_did():
    random = np.random.default_rng(0)
    weight, bias = random.standard_normal((6, 4, 3, 3)), random.standard_normal(6)
    gamma, beta, mean = random.standard_normal((3, 6))
    variance = random.random(6)
    inputs = random.standard_normal((5, 4, 3, 3))  # one output position: the sum over channels and window
    plain = np.einsum("nchw,ochw->no", inputs, weight) + bias
    wanted = (plain - mean) / np.sqrt(variance + 1e-5) * gamma + beta
    folded, offset = fold_batch_norm(weight, bias, gamma=gamma, beta=beta, mean=mean, variance=variance)
    assert np.einsum("nchw,ochw->no", inputs, folded) + offset == pytest.approx(wanted)
    with pytest.raises(FieldError, match="gamma must have 6 values"):
        fold_batch_norm(weight, bias, gamma=gamma[:2], beta=beta, mean=mean, variance=variance)


def test_eight_small_gemms_fill_two_waves_together():
    found = horizontal_fusion([16] * 8, slots=108)
    assert (found.waves_before, found.waves_after, found.speedup) == (8, 2, 4)
    assert (found.launches_before, found.launches_after, found.decision) == (8, 1, "fuse")


@given(st.lists(st.integers(1, 500), min_size=1, max_size=8), st.integers(1, 200))
def test_merged_kernels_never_fill_more_waves(tiles, slots):
    found = horizontal_fusion(tiles, slots=slots)
    assert 1 <= found.waves_after <= found.waves_before
    assert found.waves_after * slots >= sum(tiles) > (found.waves_after - 1) * slots


@pytest.mark.parametrize(("tiles", "slots", "said"), [([], 1, "tiles"), ([0], 1, "tiles"), ([1], 0, "slots")])
def test_bad_tiles_are_named(tiles, slots, said):
    with pytest.raises(FieldError, match=said):
        horizontal_fusion(tiles, slots=slots)
