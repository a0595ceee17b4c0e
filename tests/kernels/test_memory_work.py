"""What memory-bound calls move and compute, by hand, on a GPU of round figures."""

from dataclasses import replace

import numpy as np
import pytest

import synperf
from synperf import (
    Copy,
    DType,
    Elementwise,
    Embedding,
    GeluMul,
    GroupedGemm,
    KvAppend,
    LayerNorm,
    Quantize,
    Reduction,
    RmsNorm,
    Rope,
    Sampling,
    SiluMul,
    Softmax,
    Transpose,
)
from synperf.achieved import achieved
from synperf.features import features
from synperf.hardware import Calibration
from synperf.kernels import families
from synperf.report.explanations import to_text

from ..toys import TOY


def _bytes(call):
    return families()[call.FAMILY].compulsory_bytes(call)


def _flop(call):
    return families()[call.FAMILY].flop(call)


def _launch(call, gpu=TOY):
    return families()[call.FAMILY].launch(call, gpu)


def _features(call, gpu=TOY):
    return features(families()[call.FAMILY], call, gpu)


BYTES = [  # 100 rows of 1,000 values of 2 bytes are 200,000 bytes
    (RmsNorm(rows=100, dim=1000), 400_000 + 2_000),  # in, out, a weight per column
    (RmsNorm(rows=100, dim=1000, residual=True), 800_000 + 2_000),  # two in, the sum and the result out
    (RmsNorm(rows=100, dim=1000, quant_dtype="fp8"), 300_000 + 400 + 2_000),  # a scale of 4 bytes per row
    (RmsNorm(rows=100, dim=1024, quant_dtype="nvfp4"), 100 * 1024 * (2 + 0.5 + 1 / 16) + 2_048),
    (LayerNorm(rows=100, dim=1000), 400_000 + 4_000),
    (Softmax(rows=100, dim=1000), 400_000),
    (SiluMul(rows=100, dim=1000), 600_000),  # twice as wide in as out
    (GeluMul(rows=100, dim=1000, quant_dtype="int8"), 400_000 + 100_000 + 400),
    (Rope(rows=100, dim=1000), 400_000 + 2_000),  # the angles of at least one token
    (Quantize(rows=100, dim=1000), 300_000 + 400),
    (Quantize(rows=100, dim=1024, quant_dtype="fp8_block"), 100 * 1024 * (3 + 4 / 128)),
    (Embedding(rows=100, dim=1000), 400_000 + 800),  # an index of 8 bytes per token
    (Embedding(rows=100, dim=1000, vocab=50), 100_000 + 200_000 + 800),  # at most 50 rows differ
    (KvAppend(rows=100, dim=1000), 800_000 + 800),
    (KvAppend(rows=100, dim=1000, quant_dtype="fp8"), 600_000 + 800),
    (Sampling(rows=100, vocab=1000), 400_000 + 800),  # fp32 in, a token of 8 bytes out
    (Copy(rows=100, dim=1000), 400_000),
    (Transpose(rows=100, dim=1000), 400_000),
    (Elementwise(elements=100_000, inputs=2, dtype="fp32"), 1_200_000),
    (Reduction(rows=100, dim=1000), 200_000 + 200),
    (Reduction(rows=100, dim=1000, axis=0), 200_000 + 2_000),
]


@pytest.mark.parametrize(("call", "expected"), BYTES, ids=lambda x: type(x).__name__ if hasattr(x, "FAMILY") else "")
def test_operands_are_read_once_and_the_result_is_written_once(call, expected):
    assert _bytes(call) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "per_value"),
    [
        (RmsNorm(rows=100, dim=1000), 4),
        (RmsNorm(rows=100, dim=1000, residual=True, quant_dtype="fp8"), 4 + 1 + 2),
        (SiluMul(rows=100, dim=1000), 4),
        (Rope(rows=100, dim=1000), 3),  # six per pair
        (Copy(rows=100, dim=1000), 0),
        (Elementwise(elements=100_000, flop_per_element=7), 7),
    ],
)
def test_flop_are_values_times_operations_of_one(call, per_value):
    assert _flop(call) == per_value * 100_000


def test_what_kernels_execute_is_what_the_profiler_counted():
    groups = families()["silu_mul"].decompose(SiluMul(rows=100, dim=1000), TOY)
    assert groups.count * groups.fma_flop == pytest.approx(4 * 1.71875 * 100_000)
    assert groups.count * groups.xu_op == pytest.approx(2 * 1.1875 * 100_000)


def test_a_cta_has_a_row_and_a_thread_for_each_load_of_16_bytes():
    found = _launch(RmsNorm(rows=100, dim=4096))
    assert (found.grid, found.threads) == ((100, 1, 1), 512)
    assert found.choice == {"rows_per_cta": 1, "values_per_cta": 4096, "vector_bytes": 16}


def test_short_rows_share_a_cta_where_the_kernel_lets_them():
    found = _launch(Softmax(rows=100, dim=64))  # a warp each, four warps
    assert (found.grid, found.choice["rows_per_cta"]) == ((25, 1, 1), 4)
    assert _launch(RmsNorm(rows=100, dim=64)).grid == (100, 1, 1)


def test_long_rows_are_divided_where_the_kernel_does():
    assert _launch(Reduction(rows=2, dim=40_000)).grid == (6, 1, 1)  # of 16,384 values each
    assert _launch(RmsNorm(rows=2, dim=40_000)).grid == (2, 1, 1)


def test_a_flat_array_has_chunks_whatever_its_rows():
    assert _launch(Copy(rows=3, dim=1000)).grid == _launch(Copy(rows=1000, dim=3)).grid == (3, 1, 1)
    assert _launch(Copy(rows=3, dim=1001)).choice["vector_bytes"] == 16


def test_ctas_walk_where_a_launch_would_have_more_than_its_kernel_starts():
    found = _launch(Quantize(rows=100_000, dim=4096, engine="trtllm"))
    assert (found.grid, found.persistent) == ((65_536, 1, 1), True)
    fewer = _launch(Quantize(rows=1000, dim=4096, engine="trtllm"))
    assert (fewer.grid, fewer.persistent) == ((2000, 1, 1), False)  # 2,048 values each


@pytest.mark.parametrize(("dim", "vector_bytes"), [(4096, 16), (4092, 8), (4094, 4), (4095, 2)])
def test_loads_are_narrower_where_rows_are_not_aligned(dim, vector_bytes):
    assert _launch(RmsNorm(rows=100, dim=dim)).choice["vector_bytes"] == vector_bytes


def test_a_row_of_odd_length_takes_part_of_one_more_sector_in_and_out():
    rows, dim = 1000, 4095
    groups = families()["softmax"].decompose(Softmax(rows=rows, dim=dim), TOY)
    assert groups.count * groups.load_bytes == rows * (2 * dim + 30)
    assert groups.count * groups.store_bytes == rows * (2 * dim + 30)


def test_two_byte_loads_leave_half_of_the_path_from_l1_empty():
    odd, even = (
        Softmax(rows=1000, dim=4095, kernel="plain", engine="plain"),
        Softmax(rows=1000, dim=4096, engine="plain"),
    )
    ratio = _features(odd).pipes["shared"].gpu_s / _features(even).pipes["shared"].gpu_s
    assert ratio == pytest.approx(2 * (4095 + 15) / 4096)


def test_the_busiest_sm_has_the_whole_rows_that_fall_to_it():
    f = _features(RmsNorm(rows=11, dim=4096, engine="vllm"))
    assert f.load.tasks == 11
    assert f.load.sm_max_tasks == 2
    assert f.pipes["fma"].sm_max_s == pytest.approx(2 * 4096 * 4 * 1.6168 / (100 * 1e9))


def test_data_that_fit_in_l2_are_found_there_and_twice_as_many_are_not():
    held = 5_000_000  # half of 10 MB on compute capability 8.0
    fits, half, cold = (Copy(rows=1, dim=values) for values in (held // 4, 3 * held // 8, held // 2))
    assert _features(fits).dram_bytes == 0
    assert _features(half).dram_bytes == pytest.approx(0.5 * 7_500_000)
    assert _features(cold).dram_bytes == 10_000_000
    said = [synperf.predict(call, TOY).assumptions[-2] for call in (fits, half, cold)]
    assert said == [
        "l2: operands and result, 5 MB, are found in L2, which holds 4.768 MiB",
        "l2: 50% of operands and result, 7.5 MB, miss L2, which holds 4.768 MiB",
        "l2: operands and result, 10 MB, come cold out of DRAM; L2 holds 4.768 MiB",
    ]


def test_a_row_longer_than_l2_is_read_again_from_dram_by_every_pass():
    call = Softmax(rows=1, dim=10_000_000, engine="torch")  # 20 MB in, 10 MB of L2
    assert _features(call).dram_bytes == 40_000_000 + 10_000_000


def test_one_long_row_waits_for_one_load_after_the_other():
    call = Quantize(rows=1, dim=51_200)  # 256 threads of 16 bytes: 25 loads of each
    assert _features(call).pipes["l2"].sm_max_s == pytest.approx(25 * 262e-9)


def test_a_strided_copy_reads_a_sector_for_each_value():
    groups = families()["transpose"].decompose(Transpose(rows=1000, dim=1000, engine="torch"), TOY)
    assert groups.count * groups.load_bytes == 32_000_000
    tiled = families()["transpose"].decompose(Transpose(rows=1024, dim=1024, engine="plain"), TOY)
    assert tiled.count * tiled.load_bytes == 2 * 1024 * 1024


def test_a_cut_to_the_greatest_takes_passes_over_the_logits():
    whole, cut = Sampling(rows=8, vocab=100_000), Sampling(rows=8, vocab=100_000, top_k=50)
    assert families()["sampling"].decompose(cut, TOY).waits_s > families()["sampling"].decompose(whole, TOY).waits_s
    assert _bytes(cut) == _bytes(whole)


def test_an_unfused_chain_moves_what_lies_between_its_launches():
    fused, chain = (Quantize(rows=4096, dim=8192, engine=engine) for engine in ("vllm", "sglang"))
    assert _features(chain).dram_bytes - _features(fused).dram_bytes == 28 * 4096 * 8192


def test_the_engine_is_the_one_that_has_a_kernel_of_its_own():
    gpu = synperf.gpu("h100_sxm")
    assert synperf.predict(Softmax(rows=8, dim=8), gpu).engine == "torch"
    assert synperf.predict(RmsNorm(rows=8, dim=8), gpu).engine == "vllm"
    assert synperf.predict(RmsNorm(rows=8, dim=8, engine="sglang"), gpu).kernel == "flashinfer"


def test_a_gpu_that_cannot_multiply_a_format_can_still_move_it():
    old = synperf.gpu("p100_pcie")
    assert DType.BF16 not in old.dtypes()
    assert synperf.predict(RmsNorm(rows=8, dim=4096), old).time_s > 0
    assert synperf.predict(Copy(rows=8, dim=4096, dtype="fp8"), old).time_s > 0


def test_the_answer_says_that_it_is_analytical():
    e = synperf.predict(RmsNorm(rows=4096, dim=4096), "h100_sxm")
    assert e.origin == "analytical"
    with pytest.raises(synperf.PerfError, match="rmsnorm"):
        synperf.predict(RmsNorm(rows=4096, dim=4096), "h100_sxm", origin="learned")


def test_a_million_calls_equal_single_ones():
    rng = np.random.default_rng(0)
    rows, dim = rng.integers(1, 100_000, 1_000_000), rng.integers(1, 20_000, 1_000_000)
    call = RmsNorm(rows=rows, dim=dim, residual=True)
    times = synperf.predict(call, "h100_sxm").time_s
    for i in (0, 1, 99_999, 999_999):
        assert times[i] == synperf.predict(replace(call, rows=int(rows[i]), dim=int(dim[i])), "h100_sxm").time_s


def test_a_launch_floor_is_that_of_quantisation_where_a_family_has_none_of_its_own():
    known = {"cublas.bf16": 1e-6, "quantize.trtllm.bf16": 3e-6, "quantize.per_token_chain.bf16": 8e-6}
    gpu = replace(TOY, calibration=Calibration(launch_floor_s=known))
    own, norm, product = Quantize(rows=1, dim=8, engine="sglang"), RmsNorm(rows=1, dim=8), GroupedGemm(
        m_per_group=[1], n=8, k=8
    )  # fmt: skip
    assert _floor_s(own, gpu) == 8e-6
    assert _floor_s(norm, gpu) == 3e-6
    assert _floor_s(product, gpu) == 1e-6  # shorter launches of another kind do not stand in for it


def _floor_s(call, gpu):
    return synperf.explain(call, gpu, origin="analytical").launch_floor_s


def test_norms_and_products_stand_in_one_table():
    table = [
        {"family": "gemm", "m": 8, "n": 8, "k": 8, "dtype": "bf16"},
        {"family": "rmsnorm", "rows": 8, "dim": 8, "quant_dtype": "fp8"},
        {"family": "sampling", "rows": 8, "vocab": 100},
    ]
    found = synperf.predict(table, "h100_sxm")
    assert [row["kernel"] for row in found] == ["cublas", "vllm_ops", "flashinfer"]
    with pytest.raises(synperf.FieldError, match="column 'quant_dtype' looks like the field dtype"):
        synperf.predict([{"family": "gemm", "m": 8, "n": 8, "k": 8, "quant_dtype": "fp8"}], "h100_sxm")
    with pytest.raises(synperf.FieldError, match="column 'rows' looks like the field m"):
        synperf.predict([{"family": "gemm", "rows": 8, "n": 8, "k": 8}], "h100_sxm")


def test_an_explanation_has_no_edge_tiles_and_names_what_a_cta_has():
    x = synperf.explain(RmsNorm(rows=4096, dim=4095), "h100_sxm")
    text = to_text(x)
    assert "vllm_ops's: rows_per_cta 1, values_per_cta 4095, vector_bytes 2" in text
    assert "edge tiles" not in text
    assert "0 B of the 4 MB that are compulsory; L2 has the rest" in to_text(
        synperf.explain(Copy(rows=1, dim=10**6), "h100_sxm")
    )
    assert "of the slowest pipe; limited by dram; analytical" in text
    assert achieved(x, 30e-6).math_share == pytest.approx(x.features.flop / 30e-6 / x.gpu.peak_flop_per_s(DType.FP32))
