"""Call lists, golden ones first, then laws over every model of the catalog."""

from collections import Counter

import numpy as np
import pytest

import synperf
from synperf import FieldError, FusedMoe, Gemm, LayerNorm, Mla, RmsNorm, models
from synperf.collectives import Collective
from synperf.kernels.attention_call import Attention
from synperf.kernels.linear_attention_call import LinearAttention
from synperf.models import Batch, Plan, Requests, calls, catalog, decode, prefill

from .test_config import written

ARXIV_8 = [2648, 3740, 3761, 3866, 3777, 3508, 3227, 3439]
ARXIV_16 = [3846, 1704, 3594, 2039, 2048, 2790, 2131, 2168, 1340, 1180, 1739, 2750, 2633, 2243, 194, 2753]
ONE_OF_EACH = [next(iter(family.models)) for family in catalog.families().values()]
SMALL = [name for name in models.names() if models.model(name).num_layers <= 100]


def divides(model, tp):
    return all(getattr(layer.mixer, "heads", tp) % tp == 0 for layer in model.kinds)


def listed(name, plan, batch, **options):
    return calls(models.model(name), plan, batch, **options)


def products(entries):
    """Part -> (m, n, k) and how often."""
    return {e.part: ((e.call.m, e.call.n, e.call.k), e.count) for e in entries if isinstance(e.call, Gemm)}


def count_of(entries, kind, **fields):
    return sum(
        e.count
        for e in entries
        if isinstance(e.call, kind) and all(getattr(e.call, name) == value for name, value in fields.items())
    )


def test_golden_calls_of_qwen2_5_14b():
    entries = listed("Qwen2.5-14B", Plan(), prefill(ARXIV_8))
    assert products(entries) == {
        "qkv": ((27966, 7168, 5120), 48),
        "o": ((27966, 5120, 5120), 48),
        "gate_up": ((27966, 27648, 5120), 48),
        "down": ((27966, 5120, 13824), 48),
        "lm_head": ((8, 152064, 5120), 1),
    }
    assert count_of(entries, RmsNorm) == 97
    assert count_of(entries, Collective) == 0
    assert {e.part: e.count for e in entries if e.part in ("prefill_attention", "activation", "rope", "kv_append")} == (
        dict.fromkeys(("prefill_attention", "activation", "rope", "kv_append"), 48)
    )


def test_golden_calls_of_llama_70b_on_four_gpus():
    entries = listed("Llama-3.1-70B", Plan(tp=4), prefill(ARXIV_16))
    found = products(entries)
    assert found["qkv"] == ((35152, 2560, 8192), 80)
    assert found["o"] == ((35152, 8192, 2048), 80)
    assert found["gate_up"] == ((35152, 14336, 8192), 80)
    assert found["down"] == ((35152, 8192, 7168), 80)
    assert found["lm_head"] == ((16, 128256, 8192), 1)
    assert count_of(entries, RmsNorm) == 161
    assert count_of(entries, Collective) == 160
    assert count_of(entries, Collective, operation="all_reduce", bytes=575_930_368, ranks=4) == 160


def test_qwen3_normalises_queries_and_keys_too():
    assert count_of(listed("Qwen3-14B", Plan(), decode([100])), RmsNorm) == 4 * 40 + 1


def test_stages_send_the_hidden_state_and_the_residual():
    llama, batch = models.model("Llama-3.1-70B"), prefill(ARXIV_16)
    whole = calls(llama, Plan(tp=4, pp=4), batch)
    assert count_of(whole, Collective, operation="send_recv", bytes=2 * 35152 * 8192 * 2, ranks=2) == 3
    assert count_of(whole, Collective, operation="all_reduce") == 160


def test_stages_together_are_the_whole_pass():
    llama, batch, plan = models.model("Llama-3.1-8B"), decode([7, 7, 9]), Plan(tp=2, pp=3)
    parts = Counter()
    for stage in range(3):
        for e in calls(llama, plan, batch, stage=stage):
            parts[e.part, str(e.call)] += e.count
    whole = Counter()
    for e in calls(llama, plan, batch):
        whole[e.part, str(e.call)] += e.count
    assert parts == whole


def test_a_chunk_of_a_prompt_and_decode_attend_apart_and_share_the_rest():
    chunk = Requests(q_len=512, kv_len=2048, samples=False)
    entries = listed("Llama-3.1-8B", Plan(), Batch((chunk, Requests(count=30, kv_len=700), Requests(kv_len=900))))
    attention = {e.part: e.call for e in entries if isinstance(e.call, Attention)}
    assert (attention["prefill_attention"].q_len, attention["prefill_attention"].kv_len) == (512, 2048)
    assert attention["decode_attention"].kv_lens == (700,) * 30 + (900,)
    assert products(entries)["qkv"][0][0] == 512 + 31
    assert products(entries)["lm_head"][0][0] == 31


def test_a_chunk_that_is_not_the_last_draws_no_token():
    entries = listed("Llama-3.1-8B", Plan(), Batch((Requests(q_len=512, kv_len=512, samples=False),)))
    assert {"lm_head", "sampling"}.isdisjoint(e.part for e in entries)


def test_tensor_parallelism_above_the_kv_heads_repeats_them():
    entries = listed("Qwen3-30B-A3B", Plan(tp=8), decode([64]))
    assert products(entries)["qkv"][0] == (1, (32 // 8 + 2 * 1) * 128, 2048)
    said = models.assumptions(models.model("Qwen3-30B-A3B"), Plan(tp=8))
    assert said == ("tp: 8 is above the 4 KV heads, each of which 2 ranks hold",)


def test_experts_of_one_group_are_reduced_and_of_several_dispatched():
    one = listed("Qwen3-30B-A3B", Plan(tp=4, ep=4), decode([64] * 8))
    moe = next(e.call for e in one if isinstance(e.call, FusedMoe))
    assert (moe.tokens, moe.tp, moe.ep, moe.inter) == (8, 1, 4, 768)
    assert {e.call.operation for e in one if isinstance(e.call, Collective)} == {"all_reduce"}
    groups = listed("Qwen3-30B-A3B", Plan(dp=4, ep=4), decode([64] * 8))
    moe = next(e.call for e in groups if isinstance(e.call, FusedMoe))
    assert (moe.tokens, moe.tp, moe.ep) == (32, 1, 4)
    gathered = 32 * 2048 * 2
    for part, operation in (("dispatch", "all_gather"), ("combine", "reduce_scatter")):
        found = next(e.call for e in groups if e.part == part)
        assert (found.operation, found.bytes, found.ranks) == (operation, gathered, 4)
    sent = listed("Qwen3-30B-A3B", Plan(dp=4, ep=4, dispatch="all_to_all"), decode([64] * 8))
    for part in ("dispatch", "combine"):
        found = next(e.call for e in sent if e.part == part)
        assert (found.operation, found.bytes, found.ranks, found.topk) == (f"moe_{part}", 8 * 2048 * 2, 4, 8)


def test_deepseek_expands_latents_for_prompts_and_absorbs_them_in_decode():
    prompt = listed("DeepSeek-V3", Plan(tp=8), prefill([4096]))
    core = [e for e in prompt if isinstance(e.call, Mla)]
    assert sum(e.count for e in core) == 61
    assert not core[0].call.absorbed
    found = products(prompt)
    assert found["qkv_down"][0] == (4096, 1536 + 512 + 64, 7168)
    assert found["q_up"][0] == (4096, 16 * 192, 1536)
    assert found["kv_up"][0] == (4096, 16 * 256, 512)
    assert found["o"][0] == (4096, 7168, 16 * 128)
    assert found["shared_gate_up"] == ((4096, 2 * 2048 // 8, 7168), 58)
    step = listed("DeepSeek-V3", Plan(tp=8), decode([5000] * 8 + [6000] * 8))
    core = next(e.call for e in step if isinstance(e.call, Mla))
    assert (core.absorbed, core.batch, core.kv_len, core.heads) == (True, 16, 5500, 16)
    assert sum(e.count for e in step if isinstance(e.call, FusedMoe)) == 58
    assert sum(e.count for e in step if e.part == "gate_up") == 3
    assert next(e.call.dtype for e in step if isinstance(e.call, FusedMoe)) == "fp8_block"


def test_an_indexer_lets_long_requests_see_its_choice():
    step = listed("DeepSeek-V3.2", Plan(), decode([100_000]))
    assert next(e.call.kv_len for e in step if isinstance(e.call, Mla)) == 2048
    assert next(e.call.kv_len for e in step if e.part == "index_scores") == 100_000
    prompt = listed("DeepSeek-V3.2", Plan(), prefill([8192]))
    assert next(e.call.window for e in prompt if e.part == "prefill_attention") == 2048


def test_gpt_oss_slides_in_every_other_layer_and_quantises_experts_alone():
    entries = listed("gpt-oss-120b", Plan(), decode([4096]))
    assert {e.call.window: e.count for e in entries if isinstance(e.call, Attention)} == {128: 18, 0: 18}
    assert {e.call.dtype for e in entries if isinstance(e.call, Gemm)} == {"bf16"}
    assert {e.call.dtype for e in entries if isinstance(e.call, FusedMoe)} == {"mxfp4"}


def test_qwen3_5_has_a_state_in_three_layers_of_four():
    entries = listed("Qwen3.5-397B-A17B", Plan(tp=2), prefill([1000, 500]))
    states = [e for e in entries if e.part == "prefill_state"]
    assert [(e.call.batch, e.call.seq_len, e.call.heads, e.call.groups, e.count) for e in states] == (
        [(2, 750, 32, 8, 45)]
    )
    assert count_of(entries, LinearAttention) == 90
    assert count_of(entries, Attention) == 15


def test_bert_sees_both_sides_and_projects_every_token():
    entries = listed("bert-large", Plan(), prefill([512] * 4))
    attention = next(e.call for e in entries if isinstance(e.call, Attention))
    assert (attention.causal, attention.batch, attention.q_len) == (False, 4, 512)
    assert products(entries)["lm_head"] == ((2048, 30522, 1024), 1)
    assert count_of(entries, LayerNorm) == 2 * 24 + 2
    assert "kv_append" not in {e.part for e in entries}


def test_an_encoder_does_not_decode():
    with pytest.raises(FieldError, match="kv_len must be q_len for an encoder, which is 1, got 9"):
        listed("bert-large", Plan(), decode([9]))


def test_a_shared_vocabulary_hands_over_what_ranks_lack():
    entries = listed("Llama-3.1-8B", Plan(tp=4, split_vocab=True), decode([9] * 3))
    assert products(entries)["lm_head"][0] == (3, 32064, 4096)
    gathered = next(e.call for e in entries if e.part == "logits_all_gather")
    assert (gathered.operation, gathered.bytes) == ("all_gather", 3 * 128256 * 2)


def test_a_plan_may_quantise_what_a_checkpoint_does_not():
    entries = listed("Llama-3.1-8B", Plan(dtype="fp8", kv_dtype="fp8"), decode([64]))
    found = {e.part: e.call.dtype for e in entries if isinstance(e.call, Gemm)}
    assert found == {"qkv": "fp8", "o": "fp8", "gate_up": "fp8", "down": "fp8", "lm_head": "bf16"}
    assert next(e.call.kv_dtype for e in entries if isinstance(e.call, Attention)) == "fp8"
    wide = listed("Qwen3-32B-FP8", Plan(dtype="bf16"), decode([64]))
    assert {e.call.dtype for e in wide if isinstance(e.call, Gemm)} == {"bf16"}


def test_an_engine_runs_what_it_has_kernels_for():
    entries = listed("Llama-3.1-8B", Plan(engine="vllm"), decode([64]))
    assert {e.part for e in entries if e.call.engine is None} == {"embedding"}


def test_columns_are_many_iterations():
    lengths, counts = np.array([100.0, 200.0, 4000.0]), np.array([1.0, 8.0, 64.0])
    many = listed("Qwen3-30B-A3B", Plan(tp=2), Batch((Requests(count=counts, kv_len=lengths),)))
    one = listed("Qwen3-30B-A3B", Plan(tp=2), Batch((Requests(count=8, kv_len=200),)))
    assert [e.part for e in many] == [e.part for e in one]
    for column, single in zip(many, one, strict=True):
        for name in type(single.call).__dataclass_fields__:
            value = getattr(column.call, name)
            assert (value[1] if isinstance(value, np.ndarray) else value) == getattr(single.call, name), name


@pytest.mark.parametrize("name", SMALL)
def test_products_of_a_pass_are_all_matrices_times_its_tokens(name):
    """FLOP of the products are 2 x parameters x tokens, whatever the model; experts as many as a token goes to."""
    model = models.model(name)
    flop = 0.0
    tokens = 1024
    for e in calls(model, Plan(), prefill([tokens])):
        if isinstance(e.call, Gemm) and not e.part.startswith(("lm_head", "head_")):
            flop += 2 * e.count * e.call.batch * e.call.m * e.call.n * e.call.k
        if isinstance(e.call, FusedMoe):
            flop += 2 * e.count * e.call.tokens * e.call.topk * 3 * e.call.hidden * e.call.inter
    assert flop == 2 * models.linear_parameters(model) * tokens


@pytest.mark.parametrize("name", [name for name in SMALL if divides(models.model(name), 2)])
def test_ranks_share_the_products_evenly_but_for_what_every_rank_holds(name):
    model = models.model(name)

    def flop(tp):
        found = [e for e in calls(model, Plan(tp=tp), prefill([64])) if isinstance(e.call, Gemm)]
        return sum(e.count * e.call.batch * e.call.m * e.call.n * e.call.k for e in found if e.part != "lm_head")

    assert flop(1) / 2 <= flop(2) <= flop(1)


def test_every_collective_goes_over_the_links_of_the_plan():
    plan = Plan(tp=2, pp=2, dp=2, ep=4, split_vocab=True, link="nvlink_bridge", network="roce_100")
    found = [e.call for e in listed("Qwen3-30B-A3B", plan, decode([100])) if isinstance(e.call, Collective)]
    assert {call.operation for call in found} == {"all_reduce", "all_gather", "reduce_scatter", "send_recv"}
    assert {(call.link, call.network) for call in found} == {("nvlink_bridge", "roce_100")}


def test_a_bridge_is_faster_than_pcie_and_that_than_the_way_through_host_memory():
    def of_link(link):
        entries = listed("Llama-2-7b-hf", Plan(tp=2, link=link), prefill([2048]))
        sent = [e for e in entries if isinstance(e.call, Collective)]
        return sum(e.count * synperf.predict(e.call, "rtx_3090").time_s for e in sent)

    bridge, peers, host = (of_link(link) for link in ("nvlink_bridge", "pcie4", "pcie4_host"))
    assert bridge < peers < host
    assert of_link(None) == peers  # that of the card where none is named


@pytest.mark.parametrize("method", ["awq", "gptq"])
@pytest.mark.parametrize("name", ["google/gemma-3-27b-it", "Qwen/Qwen3.6-27B", "mistralai/Mixtral-8x7B-v0.1"])
def test_a_checkpoint_in_int4_has_a_time_on_two_small_cards(tmp_path, name, method):
    config = config_of(name) | {"quantization_config": {"quant_method": method, "bits": 4, "group_size": 128}}
    model, plan = models.model(written(tmp_path, config)), Plan(tp=2, engine="vllm", link="nvlink_bridge")
    assert models.weights_bytes(model, plan) < 24e9
    for batch in (prefill([2048]), decode([2048])):
        entries = calls(model, plan, batch)
        assert {e.call.dtype for e in entries if e.part in ("qkv", "o", "down", "experts")} == {"int4"}
        for entry in entries:
            assert synperf.predict(entry.call, "rtx_3090").time_s > 0, entry.part


def config_of(name):
    """The config.json that the catalog has of a model."""
    families = catalog.families().values()
    found = (one for f in families for key, one in f.models.items() if name in (key, *one.aliases))
    return next(found).config


def test_a_stage_that_is_not_there_is_named():
    with pytest.raises(FieldError, match="stage must be from 0 to 1, got 2"):
        listed("Llama-3.1-8B", Plan(pp=2), decode([1]), stage=2)


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_every_call_has_a_time_on_a_gpu(name):
    plan = Plan(engine="plain", dtype="bf16")
    batches = [prefill([300, 300])]
    if models.model(name).is_decoder:
        batches += [decode([3000, 5000]), Batch((Requests(q_len=64, kv_len=4096), Requests(count=3, kv_len=70)))]
    for batch in batches:
        for entry in listed(name, plan, batch):
            assert synperf.predict(entry.call, "h100_sxm", origin="analytical").time_s > 0, entry.part


def test_attention_in_latent_space_has_a_time_on_a_gpu():
    for entry in listed("DeepSeek-V3.2", Plan(tp=8, engine="plain"), prefill([4096])):
        if not isinstance(entry.call, Collective):
            assert synperf.predict(entry.call, "h100_sxm", origin="analytical").time_s > 0, entry.part
