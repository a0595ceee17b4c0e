"""Writes the traces that the pages on analyses show, all of them made up: `python docs/examples/make.py FOLDER`.

training.json and training_workers.json are a small model that trains on one GPU, with slow and with fast loading of
data; rank0.json to rank3.json are data-parallel training on four, of which one has more to do; decode.json is a decoder
whose steps are replays of a graph.
"""

from __future__ import annotations

import sys
from pathlib import Path

from recorder import Recorder, geometry, shapes

GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_kernel__5x_cublas"
REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
LOADING = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
MULTI = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>"
POINTWISE = "void at::native::vectorized_elementwise_kernel<8, at::native::{}, std::array<char*, 3ul>>"
NORM = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>"
ROWS, WIDE, DEEP = 2048, 4096, 1024
STEPS, SLOW_STEP, SMALL = 6, 3, 6  # steps, the one whose batch comes late, small operators of a step
MB, GB = 2**20, 2**30
RANKS, LATE = 4, 2  # ranks, and the one that computes longer


def product(to: Recorder, k: int, n: int, dur: float) -> None:
    """A linear layer, whose product is an operator of its own."""
    tiles = geometry([n // 128, ROWS // 128, 1], 384, 168, 213 * 1024)
    outer, inner = shapes([ROWS, k], [n, k], []), shapes([ROWS, k], [k, n])
    with to.range("aten::linear", **outer), to.range("aten::mm", **inner):
        to.run(GEMM, dur, "cudaLaunchKernelExC", **tiles)


def layer(to: Recorder, slow: float = 1.0) -> None:
    """A norm, two products, and the function between them."""
    with to.range("aten::layer_norm", **shapes([ROWS, DEEP], [], [DEEP], [DEEP])):
        to.run(NORM, 6 * slow, **geometry([ROWS, 1, 1], 128, 32))
    product(to, DEEP, WIDE, 40 * slow)
    with to.range("aten::gelu", **shapes([ROWS, WIDE])):
        to.run(POINTWISE.format("GeluCUDAKernelImpl"), 16 * slow, **geometry([8192, 1, 1], 128, 32))
    product(to, WIDE, DEEP, 90 * slow)


def training(load_us: float) -> Recorder:
    """Steps that wait for data, copy it, compute, log, and step; one waits longer."""
    to, held = Recorder(), 2 * GB
    for step in range(STEPS):
        with to.range(f"ProfilerStep#{step + 5}", "user_annotation"):
            with to.range(LOADING, "user_annotation", before=load_us * (2 if step == SLOW_STEP else 1)):
                pass
            with to.range("aten::to"), to.range("aten::copy_", **shapes([MB], [MB], width=1)):
                to.copy("HtoD (Pageable -> Device)", MB, 6000.0)
                to.wait()
            for _ in range(SMALL):
                with to.range("aten::mul", **shapes([DEEP, DEEP], [])):
                    to.run(POINTWISE.format("MulFunctor<float>"), 2.5, **geometry([1024, 1, 1], 128, 24))
            for number, operator in enumerate(("aten::linear", "aten::gelu")):
                with to.range(operator), to.range("aten::empty"):
                    held += 16 * MB
                    to.memory(16 * MB, number + 1, held, 3 * GB)
            layer(to)
            with to.range("train.py(31): log_metrics", "python_function", before=250.0 + 9 * (step * 3 % 4)):
                pass
            for number in range(2):
                held -= 16 * MB
                to.memory(-16 * MB, number + 1, held, 3 * GB)
            with to.range("Optimizer.step#AdamW.step", "user_annotation"), to.range("aten::_fused_adamw_"):
                to.run(MULTI, 55, **geometry([320, 1, 1], 512, 64))
            with to.range("aten::item"), to.range("aten::_local_scalar_dense"):
                to.copy("DtoH (Device -> Pinned)", 4, 2.0)
                to.wait()
    return to


def data_parallel(rank: int) -> Recorder:
    """Steps of a rank: two layers, and after each an all-reduce of its gradients on a stream of its own."""
    to, end = Recorder(rank), 0.0
    slow = 1.3 if rank == LATE else 1.0
    start = to.now
    for step in range(STEPS):
        to.now = max(to.now, end)
        with to.range(f"ProfilerStep#{step + 5}", "user_annotation"):
            for number in range(2):
                layer(to, slow)
                to.now = max(to.now, to.free[7])
                at = start + 700 * step + 300 * number + 320  # when the slowest rank is there, and all go on
                message = {"Collective name": "allreduce", "dtype": "BFloat16", "Group size": RANKS}
                message |= {"In msg nelems": 4 * MB, "Out msg nelems": 4 * MB, "Process Group Name": "0"}
                launched = to.call("cudaLaunchKernelExC")
                begin = max(launched + 6.0, to.free.get(20, 0.0))
                dur = at + 45.0 - begin
                end = to.on_device("kernel", REDUCE, dur, launched, 20, **message)
            to.free[7] = end
            with to.range("Optimizer.step#AdamW.step", "user_annotation"), to.range("aten::_fused_adamw_"):
                to.run(MULTI, 30, **geometry([320, 1, 1], 512, 64))
            to.now = start + 700 * (step + 1)
    return to


def decode() -> Recorder:
    """Steps of a serving engine: the replay of a graph, sampling, and the host's own work."""
    to = Recorder()
    kernels = (
        ("vllm::rms_norm_kernel<c10::BFloat16>", 3.0), ("nvjet_tst_64x16_64x16_2x1_v_bz_TNT", 14.0),
        ("vllm::rotary_embedding_kernel<c10::BFloat16, true>", 2.0),
        ("vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16>", 2.0),
        ("flashinfer::BatchDecodeWithPagedKVCacheKernel<flashinfer::PosEncodingMode::kNone>", 22.0),
        ("nvjet_tst_64x8_64x16_4x1_v_bz_TNT", 9.0), ("vllm::act_and_mul_kernel<c10::BFloat16>", 3.0),
    )  # fmt: skip
    for _ in range(STEPS):
        with to.range("execute_context_0(0)_generation_8(8)", "user_annotation", before=30.0):
            launched = to.call("cudaGraphLaunch", 18.0)
            for name, dur in kernels * 4:
                to.on_device("kernel", name, dur, launched)
            with to.range("aten::argmax"):
                to.run("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<ArgMaxOps<float>>>", 12.0)
            with to.range("aten::to"), to.range("aten::copy_"):
                to.copy("DtoH (Device -> Pinned)", 64, 20.0)
                to.wait()
            with to.range("vllm/v1/engine/core.py(210): step", "python_function", before=110.0):
                pass
    return to


def main(folder: Path) -> None:
    """Writes all of them."""
    for name, load_us in (("training", 600.0), ("training_workers", 15.0)):
        training(load_us).write(folder / f"{name}.json", record_shapes=1, profile_memory=1, with_stack=1)
    for rank in range(RANKS):
        world = {"backend": "nccl", "rank": rank, "world_size": RANKS}
        data_parallel(rank).write(folder / f"rank{rank}.json", record_shapes=1, distributedInfo=world)
    decode().write(folder / "decode.json", with_stack=1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
