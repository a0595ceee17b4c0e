"""Bytes of weights and of the cache, with the numbers that engines and model cards print."""

import numpy as np
import pytest

from synperf import models
from synperf.models import Plan, kv_bytes_per_token, kv_bytes_per_token_per_gpu, request_bytes, weights_bytes


@pytest.mark.parametrize(
    ("name", "per_token"),
    [
        ("meta-llama/Llama-2-7b-hf", 524_288),
        ("meta-llama/Meta-Llama-3-8B", 131_072),
        ("meta-llama/Llama-3.1-70B", 327_680),
        ("Qwen/Qwen2.5-14B", 196_608),
        ("deepseek-ai/DeepSeek-V3", 70_272),
        ("google/gemma-2b", 2 * 18 * 256 * 2),
    ],
)
def test_the_cache_of_a_token_is_what_3_6_says(name, per_token):
    assert kv_bytes_per_token(models.model(name)) == per_token


def test_131072_tokens_of_llama_70b_are_40_gib():
    llama = models.model("Llama-3.1-70B")
    assert request_bytes(llama, Plan(), 131_072) == 40 * 2**30


def test_tensor_parallelism_divides_heads_of_keys_until_each_rank_has_one():
    llama = models.model("Llama-3.1-70B")
    per_gpu = [kv_bytes_per_token_per_gpu(llama, Plan(tp=tp)) for tp in (1, 4, 8, 16, 32)]
    assert per_gpu == [327_680, 81_920, 40_960, 40_960, 40_960]


def test_no_plan_divides_latents():
    deepseek = models.model("DeepSeek-V3")
    assert kv_bytes_per_token_per_gpu(deepseek, Plan(tp=8)) == 61 * 1152
    assert kv_bytes_per_token_per_gpu(deepseek, Plan(tp=8, kv_dtype="fp8")) == 61 * 576


def test_llama_70b_in_bf16_has_141_gb_and_a_quarter_of_it_on_each_of_four():
    llama = models.model("Llama-3.1-70B")
    assert weights_bytes(llama, Plan()) == pytest.approx(141.1e9, rel=1e-3)
    assert weights_bytes(llama, Plan(tp=4)) == pytest.approx(35.28e9, rel=1e-4)
    assert weights_bytes(llama, Plan(tp=4, pp=2)) == pytest.approx(141.1e9 / 8, rel=1e-3)


def test_423866_tokens_of_llama_70b_fit_beside_it_on_four_gpus_of_80_gb():
    llama, plan = models.model("Llama-3.1-70B"), Plan(tp=4)
    left = 80e9 * 0.9 - weights_bytes(llama, plan) - 2e9
    assert int(left / kv_bytes_per_token_per_gpu(llama, plan)) == 423_866


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("openai/gpt-oss-120b", 60.8 * 2**30),  # model card, table 1
        ("openai/gpt-oss-20b", 12.8 * 2**30),
        ("moonshotai/Kimi-K2.5", 595e9),  # size of the files on the Hub
        ("Qwen/Qwen3-32B-FP8", 34.3e9),
        ("hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4", 39.8e9),
    ],
)
def test_a_quantised_checkpoint_is_as_large_as_its_files(name, size):
    assert weights_bytes(models.model(name), Plan()) == pytest.approx(size, rel=0.003)


def test_windows_keep_no_more_than_they_see_and_pages_are_whole():
    gemma = models.model("google/gemma-3-27b-it")
    full, sliding = 10, 52
    layer = 2 * 16 * 128 * 2
    assert request_bytes(gemma, Plan(), 8192) == layer * (full * 8192 + sliding * 1024)
    assert request_bytes(gemma, Plan(), 17) == layer * 62 * 32
    assert kv_bytes_per_token(gemma) == 62 * layer


def test_linear_attention_keeps_a_state_that_does_not_grow():
    qwen = models.model("Qwen/Qwen3.5-397B-A17B")
    state = 64 * 128 * 128 * 4 + (2 * 16 * 128 + 64 * 128) * 3 * 2
    cache = 15 * 2 * 2 * 256 * 2
    assert request_bytes(qwen, Plan(), 1600) == 45 * state + cache * 1600
    assert request_bytes(qwen, Plan(tp=2), 1600) == (45 * state + cache * 1600) / 2


def test_sparse_attention_keeps_a_key_of_the_indexer_too():
    assert kv_bytes_per_token(models.model("DeepSeek-V3.2")) == 61 * (1152 + 132)


def test_a_column_of_lengths_is_many_requests():
    llama = models.model("Llama-3.1-8B")
    lengths = np.array([1.0, 16.0, 17.0])
    assert request_bytes(llama, Plan(), lengths).tolist() == [131_072 * n for n in (16, 16, 32)]


def test_experts_are_shared_by_all_ranks_of_a_stage_and_attention_by_tensor_parallelism():
    deepseek = models.model("DeepSeek-V3")
    shared = weights_bytes(deepseek, Plan(tp=8, ep=8))
    groups = weights_bytes(deepseek, Plan(tp=1, dp=8, ep=8))
    assert shared < groups < weights_bytes(deepseek, Plan(tp=1))
    assert weights_bytes(deepseek, Plan(tp=8, ep=1)) == pytest.approx(shared, rel=1e-3)


def test_an_encoder_keeps_nothing():
    assert kv_bytes_per_token(models.model("bert-large")) == 0
