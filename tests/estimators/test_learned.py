"""The learned estimate: which network answers, what it says of itself, and that it stays within physics."""

from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

import synperf
from synperf import (
    Attention,
    Conv,
    Copy,
    Elementwise,
    LayerNorm,
    Quantize,
    RmsNorm,
    Rope,
    SiluMul,
    Softmax,
    hardware,
    predict,
)
from synperf.errors import UnsupportedError
from synperf.estimators import learned
from synperf.estimators.learned import Wanted, choose, estimate
from synperf.estimators.nearness import Nearness
from synperf.estimators.weights import Weights, shipped
from synperf.features import features
from synperf.hardware import DType
from synperf.kernels import family
from synperf.kernels.gemm_call import Gemm

from .toy_weights import toy

GEMM, WEIGHTS = family("gemm"), toy()
H100, L4 = hardware.gpu("h100_sxm"), hardware.gpu("l4")


def answer(gpu=H100, **fields):
    call = Gemm(**({"m": 128, "n": 4096, "k": 4096, "engine": "vllm"} | fields))
    return estimate(GEMM, call, gpu, WEIGHTS)


def test_a_measured_gpu_has_the_network_that_knows_it():
    e = answer()
    assert (e.origin, e.extrapolating, e.outside) == ("learned", False, ())
    assert e.low_s < e.time_s < e.high_s


@pytest.mark.parametrize(
    ("gpu", "engine", "kernel", "group", "outside", "said"),
    [
        ("h100_sxm", "vllm", "cublas", "h100_sxm.vllm.cublas", (), ""),
        ("h100_sxm", "torch", "cublas", "h100_sxm.*.cublas", (), "the middle of the engines that run cublas"),
        ("l20", "vllm", "cublas", "vllm.cublas", ("gpu",), "this GPU was not measured"),
        ("l20", "torch", "cublas", "*.cublas", ("gpu",), "cublas of others"),
        ("h100_sxm", "vllm", "other", "*", ("kernel",), "nobody measured other"),
        ("l20", "vllm", "other", "*", ("gpu", "kernel"), "nobody measured other"),
    ],
)
def test_groups_are_tried_from_the_nearest_to_the_farthest(gpu, engine, kernel, group, outside, said):
    found = choose(WEIGHTS, Wanted(gpu, 0.0, DType.BF16, engine, kernel, ""))
    assert found.network.groups[found.group] == group
    assert found.outside == outside
    assert said in " ".join(found.assumptions)


def test_fp16_answers_as_bf16_and_says_so():
    found = choose(WEIGHTS, Wanted("h100_sxm", 0.0, DType.FP16, "vllm", "cublas", ""))
    assert found.outside == ("dtype",)
    assert found.assumptions == ("learned: fp16 answers as bf16",)


def test_formats_without_a_network_and_no_engine_at_all_are_not_answered():
    assert choose(WEIGHTS, Wanted("h100_sxm", 0.0, DType.NVFP4, "vllm", "cublas", "")) is None
    assert choose(WEIGHTS, Wanted("h100_sxm", 0.0, DType.BF16, "plain", "plain", "")) is None
    with pytest.raises(UnsupportedError, match="no weights for gemm in fp32"):
        answer(dtype="fp32", engine="torch")


def test_a_gpu_of_a_maker_that_no_network_has_seen_has_no_learned_answer_until_rows_of_its_own_tell():
    want = Wanted("mi300x", 0.0, DType.BF16, "vllm", "cublas", "", "amd")
    assert choose(WEIGHTS, want) is None
    assert choose(WEIGHTS, want._replace(maker="nvidia")) is not None
    assert choose(WEIGHTS, learned.of_any_balance(want)) is not None
    assert learned.declined(WEIGHTS, want) == (
        "learned: no GPU of AMD was measured in bf16, and networks answer for the makers of measured ones alone"
    )


def test_unseen_gpus_have_wider_intervals():
    known, unseen = answer(), answer(gpu=L4)
    assert (unseen.high_s - unseen.low_s) / unseen.time_s > 2 * (known.high_s - known.low_s) / known.time_s
    assert unseen.extrapolating
    assert "gpu" in unseen.outside


def test_regimes_are_chosen_by_the_predicted_time():
    short, long = answer(m=16, n=100, k=100), answer(m=8192, n=8192, k=8192)
    assert short.time_s < 1e-5 < long.time_s
    assert np.isclose(short.high_s / short.time_s, np.exp(0.3))
    assert np.isclose(long.high_s / long.time_s, np.exp(0.1))


def test_what_is_outside_is_named():
    e = answer(m=2**20)
    assert e.extrapolating
    assert "m" in e.outside
    assert "k" not in e.outside


def test_a_batch_is_outside_since_no_row_has_one():
    assert answer(batch=2).outside == ("batch",)
    many = answer(m=np.array([64, 64]), n=np.array([512, 512]), k=np.array([512, 512]), batch=np.array([1, 3]))
    assert many.outside == [(), ("batch",)]
    assert many.extrapolating.tolist() == [False, True]


def test_intervals_are_wider_where_a_call_is_beyond_what_was_measured_and_there_alone():
    networks = tuple(structs.replace(one, beyond=0.25) for one in WEIGHTS.card.networks)
    wider = Weights(card=structs.replace(WEIGHTS.card, networks=networks), networks=WEIGHTS.networks)
    m, n = np.array([64, 2**20, 64]), np.full(3, 4096)
    call = Gemm(m=m, n=n, k=n, batch=np.array([1, 1, 3]), engine="vllm")
    before, after = estimate(GEMM, call, H100, WEIGHTS), estimate(GEMM, call, H100, wider)
    further = np.exp([0.0, 0.25, 0.25])
    assert after.high_s == pytest.approx(before.high_s * further)
    assert after.low_s == pytest.approx(np.maximum(before.low_s / further, after.floor_s))
    for i in range(3):
        one = estimate(GEMM, Gemm(m=int(m[i]), n=4096, k=4096, batch=int(call.batch[i]), engine="vllm"), H100, wider)
        assert (one.low_s, one.high_s) == pytest.approx((after.low_s[i], after.high_s[i]), rel=1e-5)


def test_intervals_are_wider_the_further_a_shape_is_from_measured_ones():
    near = Nearness(shapes=((4096, 4096),), growth=0.5, least=0.0, usual=1.0, most=2.0)
    networks = (structs.replace(WEIGHTS.card.networks[0], nearness=near), *WEIGHTS.card.networks[1:])
    apart = Weights(card=structs.replace(WEIGHTS.card, networks=networks), networks=WEIGHTS.networks)
    n = np.array([4096, 2048, 1024, 64])
    call = Gemm(m=64, n=n, k=4096, engine="vllm")
    before, after = estimate(GEMM, call, H100, WEIGHTS), estimate(GEMM, call, H100, apart)
    assert after.time_s.tolist() == before.time_s.tolist()
    further = np.log(after.high_s / after.time_s) / np.log(before.high_s / before.time_s)
    assert further == pytest.approx(np.exp([-0.5, 0.0, 0.5, 0.5]))
    for i, size in enumerate(n.tolist()):
        one = estimate(GEMM, Gemm(m=64, n=size, k=4096, engine="vllm"), H100, apart)
        assert (one.low_s, one.high_s) == pytest.approx((after.low_s[i], after.high_s[i]), rel=1e-5)
    assert estimate(GEMM, call, L4, apart).high_s.tolist() == estimate(GEMM, call, L4, WEIGHTS).high_s.tolist()


def test_columns_are_the_calls_one_by_one():
    m = np.array([1, 17, 128, 4096, 2**20])
    many = answer(m=m, n=np.full(5, 4096), k=np.full(5, 1000))
    for i, each in enumerate(m.tolist()):
        one = answer(m=each, k=1000)
        assert np.isclose(many.time_s[i], one.time_s, rtol=1e-6)
        assert many.outside[i] == one.outside
        assert bool(many.extrapolating[i]) == one.extrapolating
        assert many.limiter[i] == one.limiter


def test_a_batch_of_one_is_the_call_bit_for_bit():
    one, batch = answer(m=100), answer(m=np.array([100]), n=np.array([4096]), k=np.array([4096]))
    assert (one.time_s, one.low_s, one.high_s) == (batch.time_s[0], batch.low_s[0], batch.high_s[0])


def test_no_time_is_below_the_floor_or_without_end():
    sizes = np.array([1, 2**31 - 1, 2**31 - 1, 1, 7])
    e = answer(m=sizes, n=sizes[::-1].copy(), k=np.array([1, 1, 2**31 - 1, 2**31 - 1, 3]))
    assert np.isfinite([e.time_s, e.low_s, e.high_s]).all()
    assert (e.low_s >= e.floor_s).all()
    assert (e.time_s >= e.floor_s).all()
    assert (e.time_s > 0).all()
    assert (e.high_s >= e.time_s).all()


def test_the_base_is_launch_floor_and_roofline_at_sustained_rates():
    call = Gemm(m=4096, n=4096, k=4096, engine="vllm")
    found = learned.answer(GEMM, call, H100, learned.wanted(GEMM, call, H100), WEIGHTS)
    record, f = H100.calibration, features(GEMM, call, H100)
    roof = max(
        f.flop / H100.peak_flop_per_s(DType.BF16) / record.clock_share,
        f.compulsory_bytes / H100.dram_bytes_per_s / record.dram_share,
    )
    assert np.isclose(found.base_s, record.launch_floor_s["cublas.bf16"] + roof, rtol=1e-12)
    assert np.isclose(answer(m=4096).time_s, found.base_s * np.exp(found.correction))


def test_a_gpu_without_a_record_has_typical_shares_and_says_so():
    assert any(text.startswith("sustained rates: not measured") for text in answer(gpu=L4).assumptions)
    assert not any("sustained" in text for text in answer().assumptions)


def test_calls_of_a_variant_without_weights_are_analytical_beside_learned_ones():
    whole = shipped("attention")
    some = [i for i, card in enumerate(whole.card.networks) if card.variant == "decode"]
    networks = tuple(whole.card.networks[i] for i in some)
    decode = replace(
        whole, card=structs.replace(whole.card, networks=networks), networks=tuple(whole.networks[i] for i in some)
    )
    lengths, shape = [(1, 500), (64, 64), (1, 70000)], {"heads": 32, "kv_heads": 8, "head_dim": 128}
    q, kv = (list(column) for column in zip(*lengths, strict=True))
    many = predict(Attention(q_len=q, kv_len=kv, **shape), "h100_sxm", weights=decode)
    assert many.origin.tolist() == ["learned", "analytical", "learned"]
    for i, (own_q, own_kv) in enumerate(lengths):
        one = predict(Attention(q_len=own_q, kv_len=own_kv, **shape), "h100_sxm", weights=decode)
        assert many.time_s[i] == pytest.approx(one.time_s, rel=1e-5)
        assert (many.outside[i], many.extrapolating[i]) == (one.outside, one.extrapolating)


@pytest.mark.parametrize(("gpu", "dtype"), [("h20", "bf16"), ("h20", "fp8"), ("rtx_3090", "bf16")])
def test_networks_decline_a_gpu_whose_balance_is_far_from_that_of_any_measured_one(gpu, dtype):
    call = Gemm(m=16, n=4096, k=4096, dtype=dtype)
    found = predict(call, gpu)
    assert found.origin == "analytical"
    assert any("FLOP per byte of DRAM" in said for said in found.assumptions)
    with pytest.raises(UnsupportedError, match=r"origin: this GPU has \d+ FLOP per byte of DRAM in"):
        predict(call, gpu, origin="learned")


@pytest.mark.parametrize(
    ("gpu", "dtype"), [("h20", "fp8_block"), ("l4", "bf16"), ("v100_sxm", "fp16"), ("h100_sxm", "bf16")]
)
def test_networks_answer_for_gpus_whose_balance_is_near_that_of_a_measured_one(gpu, dtype):
    assert predict(Gemm(m=16, n=4096, k=4096, dtype=dtype), gpu).origin == "learned"


def test_the_interval_of_a_balance_beside_the_measured_ones_reaches_to_the_analytical_time():
    m = np.array([1, 16, 64, 4096])
    calls = Gemm(m=m, n=4096, k=4096)
    found, parts = predict(calls, "rtx_5090"), predict(calls, "rtx_5090", origin="analytical")
    assert found.origin == "learned"
    assert (found.low_s <= parts.time_s).all()
    assert (parts.time_s <= found.high_s).all()
    assert any("the interval reaches to the analytical time" in said for said in found.assumptions)
    one = predict(Gemm(m=16, n=4096, k=4096), "rtx_5090")
    assert (one.low_s, one.high_s) == pytest.approx((found.low_s[1], found.high_s[1]), rel=1e-5)


def test_the_interval_of_a_balance_among_the_measured_ones_is_that_of_the_rows():
    found = predict(Gemm(m=16, n=4096, k=4096), "a10")
    assert found.origin == "learned"
    assert not any("FLOP per byte" in said for said in found.assumptions)


def test_rows_of_its_own_let_a_network_answer_for_any_gpu():
    weights, h20 = shipped("gemm"), hardware.gpu("h20")
    want = learned.wanted(GEMM, Gemm(m=16, n=4096, k=4096), h20)
    assert choose(weights, want) is None
    assert choose(weights, learned.of_any_balance(want)) is not None


def test_a_kernel_that_one_other_kind_of_gpu_alone_ran_has_the_middle_of_all():
    """On the RTX PRO 6000, SGLang's FlashInfer experts are three times as fast as what Hopper's rows would say."""
    every = zip(WEIGHTS.card.networks, WEIGHTS.networks, strict=True)
    card, network = next((c, n) for c, n in every if c.scope == "general")
    dtype = DType(card.dtypes[0])
    group = next(g for g in card.groups if "*" not in g)
    engine, _, kernel = group.partition(".")
    alone = structs.replace(card, alone={group: "9", f"*.{kernel}": "9"})
    weights = Weights(structs.replace(WEIGHTS.card, networks=(alone,)), (network,))
    kin, other, unsaid = (
        choose(weights, Wanted("new", 0.0, dtype, engine, kernel, "", kin=k)) for k in ("9", "12", "")
    )
    assert network.groups[kin.group] == network.groups[unsaid.group] == group
    assert network.groups[other.group] == "*"
    assert other.outside == ("gpu", "kernel")
    assert other.assumptions == (
        f"learned: {kernel} was measured on one other kind of GPU alone; the middle of the kernels for {dtype}",
    )


TORCH = {"dtype": "fp32", "engine": "torch", "kernel": "torch_fp32"}
VIDUR = {"dtype": "fp16", "engine": "vllm", "kernel": "vllm_legacy"}
MEASURED = {  # a call, and a GPU that its kernel was measured on
    "quantize": (Quantize(rows=1000, dim=5000), "l40s"),
    "elementwise": (Elementwise(elements=10**6, inputs=2, **TORCH), "p4"),
    "softmax": (Softmax(rows=4096, dim=1024, **TORCH), "v100_pcie"),
    "layernorm": (LayerNorm(rows=4096, dim=1024, **TORCH), "p100_pcie"),
    "rmsnorm": (RmsNorm(rows=512, dim=4096, **VIDUR), "a40"),
    "silu_mul": (SiluMul(rows=512, dim=11008, **VIDUR), "h100_sxm"),
    "rope": (Rope(rows=512 * 40, dim=128, **VIDUR), "a100_sxm"),
    "addition": (Elementwise(elements=10**6, inputs=2, **VIDUR), "a100_sxm"),
}


@pytest.mark.parametrize(("call", "gpu"), MEASURED.values(), ids=MEASURED)
def test_a_measured_kernel_on_its_gpu_is_learned_and_knows_that(call, gpu):
    found = predict(call, gpu)
    assert (found.origin, {"gpu", "kernel", "batch"} & {*found.outside}) == ("learned", set())
    assert found.floor_s <= found.low_s <= found.time_s <= found.high_s
    assert not any("no weights" in said or "nobody measured" in said for said in found.assumptions)


CONV = Conv(
    batch=16, in_channels=64, out_channels=96, height=28, width=28, kernel_h=3, kernel_w=3, padding=1, dtype="fp32"
)
AS_MEASURED = "learned: cudnn as torch_fp32, whose times hold the launch on an idle GPU"


def test_a_kernel_that_rows_call_otherwise_has_their_time_and_its_own_name():
    found, rows = (predict(replace(CONV, kernel=kernel), "p100_pcie") for kernel in (None, "torch_fp32"))
    assert (found.engine, found.kernel, rows.kernel) == ("torch", "cudnn", "torch_fp32")
    assert (found.time_s, found.low_s, found.high_s) == (rows.time_s, rows.low_s, rows.high_s)
    assert {found.origin, rows.origin} == {"learned"}
    assert not {"gpu", "kernel"} & {*found.outside}
    assert AS_MEASURED in found.assumptions
    assert AS_MEASURED not in rows.assumptions


@pytest.mark.parametrize(
    ("name", "larger"),
    [("softmax", {"dim": 16384}), ("layernorm", {"dim": 16384}), ("elementwise", {"elements": 10**10})],
)
def test_calls_larger_than_measured_ones_have_wider_intervals(name, larger):
    call, gpu = MEASURED[name]
    measured, beyond = (predict(one, gpu) for one in (call, replace(call, **larger)))
    assert (measured.extrapolating, beyond.extrapolating) == (False, True)
    inner, outer = (e.high_s / e.low_s for e in (measured, beyond))
    assert outer > 1.3 * inner
    columns = predict(replace(call, **{field: [getattr(call, field), value] for field, value in larger.items()}), gpu)
    assert columns.high_s == pytest.approx([measured.high_s, beyond.high_s], rel=1e-5)


def test_weights_that_know_a_kernel_by_its_own_name_are_asked_by_it():
    want = Wanted("h100_sxm", 0.0, DType.BF16, "vllm", "cublas", "", measured_as="deepgemm")
    found, own = choose(WEIGHTS, want), choose(WEIGHTS, want._replace(measured_as=""))
    assert (found.group, found.assumptions) == (own.group, own.assumptions)


@pytest.mark.parametrize(
    ("call", "known"),
    [
        (Quantize(rows=1000, dim=5000, engine="vllm", kernel="vllm_dynamic_quant"), "per_token_chain, trtllm, vllm_"),
        (Softmax(rows=4096, dim=1024, dtype="fp32"), "torch_fp32"),
        (RmsNorm(rows=512, dim=4096, dtype="fp16"), "vllm_legacy"),
    ],
)
def test_a_memory_bound_kernel_that_nobody_measured_is_analytical_and_says_which_are_known(call, known):
    found = predict(call, "a100_sxm")
    assert found.origin == "analytical"
    assert f"learned: nobody measured {found.kernel}; the networks for {call.dtype} know {known}" in " ".join(
        found.assumptions
    )
    with pytest.raises(UnsupportedError, match=f"origin: nobody measured {found.kernel}"):
        predict(call, "a100_sxm", origin="learned")


@pytest.mark.parametrize(
    "call", [Copy(rows=100, dim=100), Softmax(rows=4096, dim=1024), Quantize(rows=64, dim=4096, quant_dtype="nvfp4")]
)
def test_a_memory_bound_call_without_weights_is_analytical_and_says_so(call):
    found = predict(call, "b200_sxm")
    assert found.origin == "analytical"
    assert found.assumptions[-1] == "rates: published ones, no weights answer here; the interval is that of GEMM"


def test_a_field_that_all_rows_have_at_one_value_is_named_and_widens_the_interval():
    given = {"variant": "gdn", "batch": 1, "seq_len": 64, "heads": 32, "groups": 16, "head_dim": 128}
    calls = [synperf.LinearAttention(**given, state_dim=size) for size in (128, 1_000_000)]
    one, large = (synperf.predict(call, "h100_sxm") for call in calls)
    assert (one.outside, large.outside[0]) == ((), "state_dim")
    assert large.low_s / large.time_s < 0.8 < one.low_s / one.time_s
    analytical_s = synperf.predict(calls[1], "h100_sxm", origin="analytical").time_s
    assert large.low_s <= analytical_s <= large.high_s
    both = synperf.predict(synperf.LinearAttention(**given, state_dim=[128, 1_000_000]), "h100_sxm")
    assert list(both.outside) == [one.outside, large.outside]
    assert both.low_s == pytest.approx([one.low_s, large.low_s])
    assert both.high_s == pytest.approx([one.high_s, large.high_s])
    short = synperf.LinearAttention(**given, state_dim=64, kernel="causal_conv1d")
    assert "state_dim" not in synperf.predict(short, "h100_sxm").outside
