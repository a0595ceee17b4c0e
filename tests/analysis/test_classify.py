"""The family of a kernel by its name; what is not known is unclassified."""

import re

import pytest

from synperf.analysis import classify
from synperf.analysis.classify import UNCLASSIFIED, families, family, is_collective, version
from synperf.traces.events import Kind

from .references import KINETO, trace

NAMES = [
    ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "collective"),
    ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", "collective"),
    ("void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)", "collective"),
    ("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)", "collective"),
    ("two_shot_all_reduce_kernel_inplace", "collective"),
    ("void deep_ep::intranode::dispatch<8, 768>(int4*)", "collective"),
    ("triton_poi_fused_all_gather_into_tensor_wait_tensor_0", "elementwise"),
    ("nvjet_tst_192x208_64x4_1x1_h_bz_coopB_bias_TNT", "gemm"),
    ("ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", "gemm"),
    ("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4>(Params)", "gemm"),
    ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64_MI16x16x1_SN", "gemm"),
    ("void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 2, 2, false>", "gemm"),
    ("void splitKreduce_kernel<32, 16, int, float, float, float, float, true, false, false>", "gemm"),
    ("triton_tem_fused_addmm_3", "gemm"),
    ("void marlin::Marlin<nv_bfloat16, 256, 1, 8, 8, 4>(int4 const*)", "gemm"),
    ("cudnn_infer_volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", "conv"),
    ("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32", "conv"),
    ("igemm_bwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8", "conv"),
    ("_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3", "conv"),
    ("void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>>", "attention"),
    ("fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext", "attention"),
    ("void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0>", "attention"),
    ("void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16>", "attention"),
    ("attn_fwd", "attention"),
    ("create_flashinfer_kv_indices_triton", "kv_cache"),
    ("void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char>", "kv_cache"),
    ("std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type"
     " vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>", "norm"),
    ("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1EEEv", "norm"),
    ("void cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>", "norm"),
    ("triton_red_fused_native_layer_norm_1", "norm"),
    ("void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>", "softmax"),
    ("void vllm::rotary_embedding_kernel<c10::BFloat16, true>", "rope"),
    ("void tensorrt_llm::kernels::quantize_with_block_size<2, __nv_bfloat16, 32, true>", "quantize"),
    ("void moe::dev::routing::routingIndicesHistogramKernel<moe::dev::routing>", "moe"),
    ("fused_moe_kernel", "moe"),
    ("void selective_scan_fwd_kernel<Selective_Scan_fwd_kernel_traits<128, 16>>", "linear_attention"),
    ("split_embedding_backward_codegen_adagrad_unweighted_find_long_segments", "embedding"),
    ("void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float>", "optimizer"),
    ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float>>>", "reduction"),
    ("triton_per_fused_sum_2", "reduction"),
    ("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>", "elementwise"),
    ("void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel<c10::BFloat16>>", "elementwise"),
    ("void at::native::elementwise_kernel<128, 2, at::native::direct_copy_kernel_cuda>", "copy"),
    ("void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 1, 128, 1>", "copy"),
    ("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>", "fill"),
    ("void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, int, int>>", "sort_scan"),
    ("void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<>>", "index"),
    ("my_kernel", UNCLASSIFIED),
    ("", UNCLASSIFIED),
]  # fmt: skip


@pytest.mark.parametrize(("name", "right"), NAMES)
def test_a_name_has_a_family(name, right):
    assert family(name) == right


def test_every_family_has_a_name_that_shows_it():
    shown = {right for _, right in NAMES}
    assert shown | {"sampling", "loss", "pooling", "random"} == set(families())
    assert version() == 1


@pytest.mark.parametrize("name", KINETO)
def test_communication_of_every_shared_trace_is_that_of_the_definition(name):
    events = trace(name).events
    plain = re.compile("nccl|rccl|cross_device_reduce|all_?reduce|allgather", re.IGNORECASE)
    names = {events.text(row) for row in events.of(Kind.KERNEL).tolist()}
    assert {n for n in names if is_collective(n)} == {n for n in names if plain.search(n)}


@pytest.mark.parametrize("name", KINETO)
def test_little_of_a_real_trace_is_unclassified(name):
    events = trace(name).events
    rows = events.of(Kind.KERNEL)
    unknown = events.named(rows, lambda text: family(text) == UNCLASSIFIED)
    assert events.dur_ns[rows[unknown]].sum() <= 0.001 * events.dur_ns[rows].sum()


def test_many_names_at_once_have_the_families_that_they_have_one_by_one(monkeypatch):
    names = [name for name, _ in NAMES]
    monkeypatch.setattr(classify, "_families", {})
    classify.classify([*names, "a name that nobody knows"])
    together = {name: family(name) for name in names}
    assert together == dict(NAMES)
    assert family("a name that nobody knows") == UNCLASSIFIED
