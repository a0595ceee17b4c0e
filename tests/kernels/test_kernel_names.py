"""Names as profilers print them."""

import pytest

from synperf.kernels.kernel_names import parse
from tests.measurements.shared import shared

NAMES = {
    "volta_sgemm_128x64_tn": ("cublas", 128, 64, None, None, None),
    "ampere_sgemm_32x32_sliced1x4_tn": ("cublas", 32, 32, None, None, None),
    "maxwell_sgemm_32x128_tn": ("cublas", 32, 128, None, None, None),
    "volta_h884gemm_256x128_ldg8_nn": ("cublas", 256, 128, None, None, None),
    "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn": ("cublas", 128, 128, None, None, None),
    "turing_fp16_s1688gemm_fp16_256x64_ldg8_f2f_tn": ("cublas", 256, 64, None, None, None),
    "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn": ("cublas", 128, 256, 64, 3, None),
    "ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x6_tn": ("cublas", 64, 64, 64, 6, None),
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_32x3_tn_align8>(Params)": ("cutlass", 256, 128, 32, 3, None),
    "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(Params)": ("cutlass", 128, 128, 16, 5, None),
    "cutlass_80_wmma_tensorop_f16_s161616gemm_f16_32x32_64x1_tn_align8": ("cutlass", 32, 32, 64, 1, None),
    "cutlass_80_simt_sgemm_128x256_8x4_nn_align1": ("cutlass", 128, 256, 8, 4, None),
    "cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_bf16_bf16_128x128x64_2x1x1_0_tnn_align8_warpspecialized_cooperative_epi_tma":
        ("cutlass", 128, 128, 64, None, (2, 1)),
    "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel":
        ("cublas", 128, 128, 32, 4, None),
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas":
        ("cublas", 64, 128, 64, None, None),
    "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT": ("cublas", 128, 256, 64, 4, (1, 2)),
    "nvjet_hsh_64x8_64x16_4x1_v_bz_splitK_TNN": ("cublas", 64, 8, 64, 16, (4, 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_name_says_its_tile(name):
    p = parse(name)
    assert (p.library, p.first, p.second, p.tile_k, p.stages, p.cluster) == NAMES[name]
    assert p.split_k == ("splitK" in name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "gemvNSP_kernel",
        "void splitKreduce_kernel<32, 16>",
        "ncclDevKernel_AllReduce",
        "elementwise_kernel_128x4",
        "nvjet_tst",
    ],
)
def test_other_names_say_nothing(name):
    assert parse(name) is None


def test_every_gemm_name_measured_on_five_gpus_is_read():
    pl = pytest.importorskip("polars")
    path = shared("neusight_train_linear.parquet")
    names = pl.read_parquet(path, columns=["kernel_name"])["kernel_name"].drop_nulls().unique().to_list()
    assert [n for n in names if "gemm" in n and parse(n) is None] == []
