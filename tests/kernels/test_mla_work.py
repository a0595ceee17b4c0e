"""MLA cases with values worked out by hand: FLOP, bytes, projections, tiles, splits, what modules add."""

import numpy as np
import pytest

import synperf
from synperf import Mla
from synperf.features import features
from synperf.kernels import family
from synperf.kernels.mla_module import projections

MLA = family("mla")
H100, A100 = synperf.gpu("h100_sxm"), synperf.gpu("a100_sxm")


def decode(**changes):
    return Mla(**({"batch": 4, "q_len": 1, "kv_len": 1000, "heads": 16, "engine": "plain"} | changes))


def prefill(**changes):
    return Mla(**({"batch": 2, "q_len": 256, "kv_len": 256, "heads": 16, "engine": "plain"} | changes))


def test_absorbed_flop_are_of_576_and_512_per_head_and_token():
    assert MLA.flop(decode()) == 2 * 4 * 16 * 1000 * (512 + 64) + 2 * 4 * 16 * 1000 * 512


def test_prefill_flop_are_of_192_and_128_per_pair_under_the_mask():
    pairs = 256 * 257 / 2
    assert MLA.flop(prefill()) == 2 * 2 * 16 * pairs * (192 + 128)


def test_absorbed_prefill_takes_three_point_four_times_the_flop():
    assert MLA.flop(prefill(absorbed=True)) / MLA.flop(prefill()) == (576 + 512) / (192 + 128)


def test_absorbed_bytes_are_latents_once_for_all_heads():
    latents, own = 4 * 1000 * 576, 4 * 16 * (576 + 512) * 2
    assert MLA.compulsory_bytes(decode()) == latents * 2 + own
    assert MLA.compulsory_bytes(decode(kv_dtype="fp8")) == latents + own


def test_prefill_bytes_are_those_of_every_head():
    assert MLA.compulsory_bytes(prefill()) == 2 * 256 * 16 * (192 + 128) * 2 * 2  # Q and O, K and V, of two bytes


def test_a_cache_of_other_sizes_is_followed():
    call = decode(kv_lora_rank=256, rope_dim=32)
    assert MLA.flop(call) == 2 * 4 * 16 * 1000 * (288 + 256)


def test_engines_write_new_latents_to_the_cache_first():
    own, engine = (features(MLA, decode(batch=1, engine=name), H100) for name in ("plain", "vllm"))
    assert own.before_s == 0
    assert engine.before_s == pytest.approx(576 * (2 + 2) / H100.l2_bytes_per_s)


def test_projections_of_deepseek_v3():
    down, q_up, kv_up, out = projections(prefill(proj_dtype="bf16"))
    assert (down.rows, down.n, down.k) == (512, 1536 + 576, 7168)
    assert (q_up.n, q_up.k, kv_up.n, kv_up.k) == (16 * 192, 1536, 16 * 256, 512)
    assert (out.n, out.k) == (7168, 16 * 128)
    *_, into, back, _ = projections(decode(proj_dtype="fp8_block"))
    assert (into.batch, into.rows, into.n, into.k, into.dtype) == (16, 4, 512, 128, "bf16")
    assert (back.batch, back.rows, back.n, back.k) == (16, 4, 128, 512)


def test_a_module_of_128_heads_has_the_weights_of_a_layer():
    # 7168 x 2112 + 1536 x 24576 + 512 x 32768 + 16384 x 7168: the matrices of DeepSeek-V3's attention.
    module = prefill(heads=128, proj_dtype="bf16")
    assert MLA.launch(module, H100).facts["weight_bytes"] == 2 * 187_105_280
    absorbed = decode(heads=128, proj_dtype="bf16")
    assert MLA.launch(absorbed, H100).facts["weight_bytes"] == 2 * 187_105_280


def test_a_module_counts_its_core_and_its_projections():
    core, module = prefill(), prefill(proj_dtype="bf16")
    weights = 7168 * 2112 + 1536 * 16 * 192 + 512 * 16 * 256 + 16 * 128 * 7168
    assert MLA.flop(module) == MLA.flop(core) + 2 * 512 * weights
    hidden, cache = 2 * 512 * 7168 * 2, 512 * 576 * 2
    assert MLA.compulsory_bytes(module) == hidden + 2 * weights + cache


def test_flop_of_faster_projections_count_as_the_core_s_that_take_as_long():
    core = MLA.flop(prefill())
    wide, narrow = (MLA.flop(prefill(proj_dtype=name)) - core for name in ("bf16", "fp8_block"))
    assert narrow == wide / 2


def test_a_request_fills_tiles_with_its_heads():
    one = MLA.launch(decode(heads=128, kernel="trtllm", engine="trtllm"), A100)
    assert (one.choice["tile_q"], one.choice["heads_per_tile"], one.tiles) == (64, 128, 2 * 4)


def test_few_requests_are_split_on_hopper_but_not_on_ampere():
    call = decode(batch=1, kv_len=65_536, kernel="trtllm", engine="trtllm")
    hopper, ampere = (features(MLA, call, gpu).load for gpu in (H100, A100))
    assert hopper.imbalance == pytest.approx(1.0)
    assert ampere.imbalance == pytest.approx(A100.num_sms)  # one SM does it all


def test_what_a_kernel_does_first_is_told_and_counted():
    widened = decode(kernel="fa3", engine="sglang", kv_dtype="fp8")
    assert any("widens" in said for said in MLA.assumptions(widened, H100))
    plain = decode(kernel="fa3", engine="sglang")
    assert features(MLA, widened, H100).before_s > features(MLA, plain, H100).before_s
    rearranged = prefill(engine="trtllm")
    assert any("rearranges" in said for said in MLA.assumptions(rearranged, H100))


def test_networks_are_of_prefill_and_decode_of_core_and_module():
    calls = (prefill(), decode(), prefill(proj_dtype="bf16"), decode(proj_dtype="bf16"))
    assert [MLA.variant(c) for c in calls] == ["prefill", "decode", "prefill_module", "decode_module"]


@pytest.mark.parametrize("module", [None, "bf16"])
@pytest.mark.parametrize("absorbed", [True, False])
def test_inputs_of_a_network_are_positive_and_the_same_in_columns(absorbed, module):
    def call(batch, q_len):
        return Mla(batch=batch, q_len=q_len, kv_len=q_len, heads=16, absorbed=absorbed, proj_dtype=module)

    many = MLA.inputs(call([1, 64], [1, 3000]), H100, np.array([1e-5, 1e-3]), 0.85)
    for i, (batch, q_len, base_s) in enumerate(((1, 1, 1e-5), (64, 3000, 1e-3))):
        one = MLA.inputs(call(batch, q_len), H100, base_s, 0.85)
        assert list(one) == list(many)
        assert all(0 < value < np.inf for value in one.values())
        assert [column[i] for column in many.values()] == pytest.approx(list(one.values()), rel=1e-12)
    assert set(MLA.stepped) <= set(many)
