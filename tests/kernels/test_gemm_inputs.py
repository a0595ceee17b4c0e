"""What a network sees of a GEMM: how its weights took turns while it was timed, against the collectors' rules."""

import numpy as np
import pytest

from synperf import Gemm, hardware
from synperf.hardware import DType
from synperf.kernels.dispatch import Timed, timed
from synperf.kernels.gemm_inputs import inputs

MIB = 2**20


def found(gpu, **fields):
    return inputs(Gemm(**fields), hardware.gpu(gpu), 1e-5, 1.0)


def test_engines_time_with_as_many_copies_as_their_collectors_make():
    assert timed("trtllm", DType.BF16) == Timed(5, fills_l2=True)
    assert timed("vllm", DType.BF16) == Timed(6, fills_l2=False)
    assert timed("vllm", DType.NVFP4) == timed("vllm", DType.FP8_BLOCK) == Timed(1, fills_l2=False)
    assert timed("sglang", DType.FP8) == timed("torch", DType.BF16) == Timed(6, fills_l2=False)
    assert timed("plain", DType.BF16) == Timed(1, fills_l2=False)


@pytest.mark.parametrize(
    ("n", "k", "copies"),
    [(16384, 1536, 2), (8192, 2048, 3), (4096, 3072, 4), (4096, 2048, 5), (8192, 6144, 1)],  # 48, 32, 24, 16, 96 MiB
)
def test_weights_that_divide_l2_stay_in_it_when_trtllm_is_timed(n, k, copies):
    l40s = hardware.gpu("l40s")
    assert l40s.l2_bytes == 96 * MIB
    weights = copies * 2 * n * k / l40s.l2_bytes
    one = found("l40s", m=1, n=n, k=k, engine="trtllm")
    assert one["weights_in_turn"] == weights <= 1
    assert one["bytes_in_turn"] == pytest.approx(weights + 2 * (n + k) / l40s.l2_bytes)
    vllm = found("l40s", m=1, n=n, k=k, engine="vllm")["weights_in_turn"]
    assert vllm == min(6 * 2 * n * k / l40s.l2_bytes, 2.0) >= weights


def test_turns_are_cut_to_where_l2_begins_and_ends_to_hold_them():
    assert found("h100_sxm", m=1, n=64, k=64)["bytes_in_turn"] == 0.5
    assert found("h100_sxm", m=16384, n=16384, k=16384)["weights_in_turn"] == 2.0


def test_activations_and_result_count_beside_the_weights():
    few, many = (found("h100_sxm", m=m, n=4096, k=1024, engine="vllm") for m in (1, 2048))
    assert few["weights_in_turn"] == many["weights_in_turn"]
    assert many["bytes_in_turn"] - few["bytes_in_turn"] == pytest.approx(2 * 2047 * (4096 + 1024) / (50 * MIB))


def test_columns_have_the_inputs_of_their_calls():
    n, k = np.array([16384.0, 8192.0, 640.0]), np.array([1536.0, 6144.0, 640.0])
    columns = found("l40s", m=np.array([1.0, 64.0, 9.0]), n=n, k=k, engine="trtllm")
    for i, m in enumerate((1, 64, 9)):
        one = found("l40s", m=m, n=int(n[i]), k=int(k[i]), engine="trtllm")
        assert one == {name: float(column[i]) for name, column in columns.items()}
