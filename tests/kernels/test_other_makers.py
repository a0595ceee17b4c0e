"""GPUs of AMD and Intel: analytical answers in every format, and no kernel that is not known to run there."""

from math import isfinite

import pytest

import synperf
from synperf import Attention, Elementwise, FusedMoe, Gemm, LayerNorm, Mla, Softmax
from synperf.errors import UnsupportedError
from synperf.hardware import DType, gpus
from synperf.kernels.dispatch import formats_of, resolve

OTHERS = [gpu for gpu in gpus() if gpu.maker != "nvidia"]
CALLS = {
    "gemm": lambda dtype: Gemm(m=300, n=4096, k=4096, dtype=dtype),
    "attention": lambda dtype: Attention(
        batch=4, q_len=100, kv_len=3000, heads=32, kv_heads=8, head_dim=128, dtype=dtype
    ),
    "fused_moe": lambda dtype: FusedMoe(tokens=300, hidden=4096, inter=1536, experts=64, topk=8, dtype=dtype),
    "mla": lambda dtype: Mla(batch=4, q_len=1, kv_len=3000, heads=16, dtype=dtype),
}
EVERY = [
    (gpu, family, dtype)
    for gpu in OTHERS
    for family in CALLS
    for dtype in gpu.dtypes()
    if dtype in formats_of(family, "plain")
]


@pytest.mark.parametrize(("gpu", "family", "dtype"), EVERY, ids=lambda x: getattr(x, "key", str(x)))
def test_every_family_has_an_analytical_answer_in_every_format_and_says_that_it_knows_no_engine(gpu, family, dtype):
    e = synperf.predict(CALLS[family](dtype), gpu)
    assert (e.origin, e.engine, e.kernel) == ("analytical", "plain", "plain")
    assert 0 < e.floor_s <= e.low_s <= e.time_s <= e.high_s
    assert isfinite(e.high_s)
    said = " ".join(e.assumptions)
    assert "engine: no engine's kernels are known on" in said
    assert "launch floor: measured on" in said
    assert "cache" not in said  # nobody writes it in a pass before


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"engine": "vllm"}, "engine: vllm has no gemm kernel for bf16 on gfx942 of AMD; right would be plain, torch"),
        (
            {"engine": "torch", "dtype": "int8"},
            "engine: torch has no gemm kernel for int8 on gfx942 of AMD; right would be plain",
        ),
        ({"kernel": "cublas"}, "kernel: cublas is not known to run on gfx942 of AMD; right would be plain"),
    ],
)
def test_engines_and_kernels_of_nvidia_are_refused(fields, message):
    with pytest.raises(UnsupportedError) as error:
        synperf.predict(Gemm(m=64, n=64, k=64, **fields), "mi300x")
    assert str(error.value) == message


@pytest.mark.parametrize("family", ["gemm", "attention", "conv", "rmsnorm", "softmax", "quantize", "reduction", "copy"])
def test_what_collect_times_by_torch_has_a_kernel_of_torch_on_amd_alone(family):
    kernel = "plain" if family in ("gemm", "attention", "conv") else "aten"
    assert resolve(family, DType.BF16, "gfx942", "torch", None) == ("torch", kernel)
    with pytest.raises(UnsupportedError, match="engine: torch has no"):
        resolve(family, DType.BF16, synperf.gpu("b60").compute_capability, "torch", None)


def test_a_module_of_another_engine_is_refused():
    call = Mla(batch=4, q_len=1, kv_len=3000, heads=16, proj_dtype="bf16")
    with pytest.raises(UnsupportedError, match="kernel: flashinfer_module is not known to run on gfx942 of AMD"):
        synperf.predict(call, "mi300x")


@pytest.mark.parametrize(
    "call",
    [
        Gemm(m=512, n=4096, k=4096, dtype="fp32", engine="torch", kernel="torch_fp32"),
        LayerNorm(rows=512, dim=4096, dtype="fp32", engine="torch", kernel="torch_fp32"),
        Softmax(rows=512, dim=4096, dtype="fp32", engine="torch", kernel="torch_fp32"),
        Elementwise(elements=512, dtype="fp32", engine="torch", kernel="torch_fp32"),
    ],
    ids=lambda call: type(call).__name__,
)
def test_kernels_of_torch_run_on_amd_and_are_learned_where_weights_know_the_gpu(call):
    measured, other = (synperf.predict(call, gpu) for gpu in ("mi100", "mi300x"))
    assert (measured.kernel, other.kernel) == ("torch_fp32", "torch_fp32")
    assert (measured.origin, other.origin) == ("analytical" if type(call) is Gemm else "learned", "analytical")


def test_a_large_tile_is_a_workgroup_of_four_waves_of_64():
    x = synperf.explain(Gemm(m=4096, n=4096, k=4096, tile_m=256, tile_n=256), "mi300x")
    # 65,536 accumulators over 256 threads and 64 registers of fragments: 320 of the 512 of a wave's thread
    assert (x.launch.threads, x.launch.registers, x.launch.occupancy.warps_per_sm) == (256, 320, 4)


def test_explanations_have_the_words_of_the_maker():
    from synperf.report import drawings, explanations

    x = synperf.explain(Gemm(m=4096, n=4096, k=4096), "mi300x")
    for text in (explanations.to_text(x), drawings.drawing(x)):
        assert "busiest CU" in text
        assert not {"SM", "SMs", "CTA", "CTAs"} & set(text.replace(",", " ").split())
    assert "workgroups of 256 threads" in explanations.to_text(x)
    assert "busiest SM" in explanations.to_text(synperf.explain(Gemm(m=4096, n=4096, k=4096), "h100_sxm"))


def test_a_cdna_file_of_ones_own_loads_and_gives_an_analytical_estimate(tmp_path):
    path = tmp_path / "next_instinct.toml"
    path.write_text('compute_capability = "gfx950"\ndram_bytes_per_s = 16e12\ntensor_flop_per_s.bf16 = 5e15\n')
    one = synperf.gpu(path)
    assert (one.maker, one.warp_size, one.max_warps_per_sm) == ("amd", 64, 32)
    assert one.assumptions[0] == f"reference for what {path} leaves out: mi355x"
    e = synperf.predict(Gemm(m=4096, n=4096, k=4096), one)
    assert (e.origin, e.engine) == ("analytical", "plain")


def test_a_file_may_state_another_width_of_its_warps(tmp_path):
    path = tmp_path / "wide.toml"
    path.write_text("warp_size = 64\ndram_bytes_per_s = 3e12\ntensor_flop_per_s.bf16 = 1e15\n")
    assert synperf.gpu(path).warp_size == 64


def test_a_file_that_says_nothing_of_its_maker_is_filled_in_from_nvidia(tmp_path):
    path = tmp_path / "unknown.toml"
    path.write_text("num_sms = 304\nclock_hz = 2.1e9\ndram_bytes_per_s = 5.3e12\ntensor_flop_per_s.bf16 = 1.307e15\n")
    assert synperf.gpu(path).maker == "nvidia"


def test_formats_that_matrix_cores_lack_are_refused():
    with pytest.raises(UnsupportedError, match="AMD Instinct MI355X has no nvfp4 math"):
        synperf.predict(Gemm(m=64, n=64, k=64, dtype="nvfp4"), "mi355x")
    assert DType.TF32 not in synperf.gpu("mi355x").dtypes()
