"""Linear attention: fields and their sentences, and what calls read, write and compute, worked out by hand."""

from dataclasses import replace

import pytest

import synperf
from synperf import FieldError, LinearAttention, UnsupportedError
from synperf.features import features
from synperf.kernels.linear_attention import FAMILY
from synperf.kernels.linear_attention_work import between_bytes

GIVEN = {"variant": "gdn", "batch": 2, "seq_len": 128, "heads": 4, "head_dim": 32, "state_dim": 16, "groups": 2}
SCAN = LinearAttention(**GIVEN)
STEP = LinearAttention(**GIVEN | {"seq_len": 1, "phase": "decode"})
MAMBA = LinearAttention(**GIVEN | {"variant": "mamba2", "chunk": 64})
KDA = LinearAttention(**GIVEN | {"variant": "kda", "groups": 4})
SHORT = replace(SCAN, kernel="causal_conv1d")
BAD = [
    ({"variant": "rwkv"}, "variant must be one of mamba2, gdn, kda, got 'rwkv'"),
    ({"phase": "train"}, "phase must be one of prefill, decode, got 'train'"),
    ({"phase": "decode"}, "seq_len must be 1 in decode, got 128"),
    ({"groups": 3}, "groups must divide heads, which are 4, got 3"),
    ({"heads": 0}, "heads must be a whole number from 1 to 2147483647, got 0"),
    ({"chunk": 0}, "chunk must be a whole number from 1 to 2147483647, got 0"),
    ({"dtype": "fp8"}, "dtype must be one of fp16, bf16, got fp8"),
    ({"kernel": "recurrent"}, "kernel: recurrent is one of decode, and phase is prefill"),
    ({"kernel": "flashkda"}, "kernel: flashkda is one of kda, and variant is gdn"),
    ({"kernel": "flashkda_fwd"}, "kernel: flashkda_fwd is one of kda, and variant is gdn"),
    ({"kernel": "causal_conv1d_qkv3"}, "kernel: causal_conv1d_qkv3 is one of kda, and variant is gdn"),
    ({"kernel": "flashinfer", "variant": "mamba2"}, "kernel: flashinfer is one of gdn, and variant is mamba2"),
    (
        {"kernel": "kda_fused", "phase": "decode", "seq_len": 1, "variant": "mamba2"},
        "kernel: kda_fused is one of kda, and variant is mamba2",
    ),
    ({"state_dim": None}, "linear_attention: missing state_dim"),
    ({"kv_heads": 2}, "linear_attention: no field named 'kv_heads'"),
]


@pytest.mark.parametrize(("values", "sentence"), BAD)
def test_a_bad_field_is_one_sentence(values, sentence):
    with pytest.raises(FieldError, match=sentence) as raised:
        synperf.parse_call("linear_attention", GIVEN | values)
    assert "\n" not in str(raised.value)


def test_what_is_not_given_is_that_of_the_variant():
    assert (LinearAttention(**GIVEN).chunk, MAMBA.chunk, replace(MAMBA, chunk=None).chunk) == (64, 64, 256)
    assert LinearAttention(**GIVEN | {"groups": None}).groups == 4


def test_engines_run_their_own_kernels_in_each_phase():
    ran = {
        engine: [synperf.predict(replace(call, engine=engine, kernel=None), "h100_sxm").kernel for call in (SCAN, STEP)]
        for engine in ("vllm", "sglang", "trtllm", "plain")
    }
    assert ran == {
        "vllm": ["flashinfer", "recurrent_packed"],
        "sglang": ["chunked", "recurrent_packed"],
        "trtllm": ["chunked", "recurrent"],
        "plain": ["plain", "plain"],
    }
    assert synperf.predict(SCAN, "l40s").kernel == "chunked"


def test_flop_are_those_of_chunks_and_of_states():
    within = 2 * 64**2 * (3 * 16 + 2 * 32)  # of a chunk and head
    assert FAMILY.flop(SCAN) == 2 * 4 * (2 * within + 128 * 3 * 2 * 16 * 32)
    assert FAMILY.flop(replace(SCAN, seq_len=65)) == 2 * 4 * (within + 2 * (3 * 16 + 2 * 32) + 65 * 3 * 2 * 16 * 32)
    assert FAMILY.flop(STEP) == 2 * 4 * 3 * 2 * 16 * 32
    of_chunk = 2 * 64**2 * (4 * 32 + 2 * 16)  # x of each head, B and C of each group
    assert FAMILY.flop(MAMBA) == 2 * (2 * of_chunk + 128 * 4 * 2 * 2 * 16 * 32)
    assert FAMILY.flop(SHORT) == 2 * 128 * (4 * 32 + 2 * 2 * 16) * (2 * 4 + 4)


def test_the_floor_counts_the_recurrent_form_or_attention_over_few_tokens():
    assert FAMILY.bound_flop(SCAN) == 2 * 128 * 4 * 3 * 2 * 16 * 32
    assert FAMILY.bound_flop(replace(SCAN, seq_len=4)) == 2 * 4 * 4 * 4 * (16 + 32)


def test_bytes_are_those_of_tokens_and_states():
    token = (2 * 2 * 16 + 4 * 32 + 4 * 32) * 2 + 2 * 4 * 4  # q and k, v, the result; two gates of each head
    state = 2 * 4 * 16 * 32
    assert FAMILY.compulsory_bytes(SCAN) == 2 * 128 * token + state * 4
    assert FAMILY.compulsory_bytes(STEP) == 2 * token + 2 * state * 4
    assert FAMILY.compulsory_bytes(replace(STEP, kernel="recurrent")) == 2 * token + 2 * state * 2
    channels = 4 * 32 + 2 * 2 * 16
    assert FAMILY.compulsory_bytes(SHORT) == channels * (2 * 128 * 4 + 4 * 2 + 2 * 3 * 2)


def test_a_chain_of_launches_hands_on_through_memory():
    gpu = synperf.gpu("h100_sxm")
    long = replace(SCAN, batch=64, seq_len=8192, engine="sglang")
    chained, fused = features(FAMILY, long, gpu), features(FAMILY, replace(long, kernel="flashinfer"), gpu)
    assert chained.dram_bytes - fused.dram_bytes == between_bytes(long, long.tokens)
    assert chained.reduction_s > fused.reduction_s > 0
    assert fused.dram_bytes == fused.compulsory_bytes


def test_l2_spares_the_states_that_fit_both_their_reading_and_their_writing():
    """L40S, 67 MB of states in 101 MB of L2: 134 MB are read and written in 34 us, 4 TB/s."""
    call = LinearAttention(
        variant="gdn", batch=256, seq_len=1, heads=4, head_dim=128, state_dim=128, groups=2, phase="decode"
    )
    assert synperf.predict(call, "l40s").floor_s < 33.7e-6


def test_answers_say_which_part_of_a_layer_they_are():
    assert (
        "kernel: the scan alone in 6 launches, without the short convolution"
        in synperf.predict(SCAN, "l40s").assumptions
    )
    assert "kernel: the short convolution alone, without the scan" in synperf.predict(SHORT, "l40s").assumptions


def test_kda_has_a_gate_for_each_row_of_the_state_and_the_flop_of_the_delta_rule():
    gdn = replace(KDA, variant="gdn", kernel=None)
    assert FAMILY.flop(KDA) == FAMILY.flop(gdn)
    more = FAMILY.compulsory_bytes(KDA) - FAMILY.compulsory_bytes(gdn)
    assert more == 2 * 128 * 4 * (16 * 2 - 4)  # 16 gates of two bytes instead of one of four, per token and head


@pytest.mark.parametrize(
    ("engine", "kernel"), [(None, "flashkda"), ("vllm", "flashkda"), ("sglang", "chunked"), ("trtllm", "chunked")]
)
def test_prompts_of_kda_run_in_kernels_of_their_own(engine, kernel):
    call = LinearAttention(**GIVEN | {"variant": "kda"}, engine=engine)
    assert synperf.predict(call, "h100_sxm", origin="analytical").kernel == kernel


@pytest.mark.parametrize(
    ("variant", "gpu", "kernel"),
    [
        ("kda", "a100_sxm", "chunked"),
        ("kda", "l40s", "chunked"),
        ("kda", "rtx_pro_6000_server", "flashkda"),
        ("kda", "mi300x", "plain"),
        ("mamba2", "h100_sxm", "chunked"),
        ("mamba2", "mi300x", "plain"),
        ("gdn", "h100_sxm", "flashinfer"),
    ],
)
def test_the_kernel_of_prompts_is_one_of_the_variant_that_the_gpu_has(variant, gpu, kernel):
    assert synperf.predict(LinearAttention(**GIVEN | {"variant": variant}), gpu).kernel == kernel


@pytest.mark.parametrize(("variant", "kernel"), [("kda", "flashkda"), ("gdn", "flashinfer")])
def test_a_kernel_that_is_not_built_for_the_gpu_is_refused(variant, kernel):
    for origin in (None, "analytical"):
        with pytest.raises(UnsupportedError, match=f"^kernel: {kernel} is not built for A100 .*or kernel=chunked$"):
            synperf.predict(LinearAttention(**GIVEN | {"variant": variant}, kernel=kernel), "a100_sxm", origin=origin)


def test_the_names_of_tables_mean_the_kernel_in_every_respect():
    one, same = (replace(SCAN, kernel=name) for name in ("causal_conv1d", "causal_conv1d_fn"))
    assert FAMILY.flop(one) == FAMILY.flop(same)
    with pytest.raises(FieldError, match="is one of decode, and phase is prefill"):
        replace(SCAN, kernel="fused_recurrent_gated_delta_rule")


def test_three_convolutions_have_three_launches():
    one, three = (replace(KDA, kernel=name, engine="sglang") for name in ("causal_conv1d", "causal_conv1d_qkv3"))
    gpu = synperf.gpu("h100_sxm")
    assert features(FAMILY, three, gpu).reduction_s > features(FAMILY, one, gpu).reduction_s == 0


def test_convolutions_of_kda_have_networks_of_their_own():
    calls = (SHORT, replace(SHORT, variant="kda"), KDA, SCAN)
    found = [FAMILY.variant(call) for call in calls]
    assert found == ["conv_prefill", "conv_kda_prefill", "kda_prefill", "gdn_prefill"]
