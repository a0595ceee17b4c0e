"""The cache of keys and values: bytes of models, blocks of a budget, and what users asked."""

import pytest

from synperf import FieldError, model
from synperf.calculators.kv_cache import Budget, grouped, kv_cache, latent, of_model

from ..cli.runner import assert_refused, invoke

GIB = 2**30


@pytest.mark.parametrize(
    ("name", "bytes_per_token"),
    [
        ("Llama-2-7B", 524_288),
        ("Llama-3-8B", 131_072),
        ("Llama-3.1-70B", 327_680),
        ("Qwen2.5-14B", 196_608),
        ("DeepSeek-V3", 70_272),
    ],
)
def test_tokens_of_models(name, bytes_per_token):
    assert kv_cache(of_model(model(name))).bytes_per_token == bytes_per_token


def test_the_same_from_numbers():
    many = kv_cache(grouped(layers=32, kv_heads=32, head_dim=128))
    assert (many.bytes_per_token, many.query_heads_factor) == (524_288, 1)
    assert kv_cache(grouped(layers=80, kv_heads=8, head_dim=128)).bytes_per_token == 80 * 4096
    assert kv_cache(grouped(layers=1, kv_heads=1, head_dim=128)).bytes_per_token == 512
    assert kv_cache(latent(layers=61, kv_lora_rank=512, rope_dim=64)).bytes_per_token == 61 * 1152


def test_a_long_context_of_llama_70b_is_forty_gibibytes():
    found = kv_cache(grouped(layers=80, kv_heads=8, head_dim=128), tokens=131_072)
    assert found.bytes_per_request == 40 * GIB


@pytest.mark.parametrize(("tp", "share"), [(1, 1), (4, 4), (8, 8), (16, 8)])
def test_ranks_share_heads_and_then_copy_them(tp, share):
    found = kv_cache(grouped(layers=80, kv_heads=8, head_dim=128), tp=tp)
    assert found.bytes_per_token_per_gpu == 327_680 / share
    assert ("hold copies of 8 KV heads" in " ".join(found.advice)) == (tp > 8)


def test_latents_are_whole_on_every_rank():
    assert kv_cache(latent(layers=61, kv_lora_rank=512, rope_dim=64), tp=8).bytes_per_token_per_gpu == 70_272


def test_requests_take_whole_blocks():
    found = kv_cache(grouped(layers=1, kv_heads=1, head_dim=1), dtype="fp8", tokens=17)
    assert (found.block_bytes, found.bytes_per_request) == (32, 64)


def test_query_heads_and_bits_as_bytes_overstate_28_times():
    """vllm-project/vllm#22291: 1.6 MB a token by hand, 0.16 GiB a request of 3,072 tokens observed."""
    found = kv_cache(grouped(layers=28, kv_heads=4, head_dim=128, heads=28), tokens=3072)
    assert (found.bytes_per_token, found.bytes_per_request) == (57_344, 176_160_768)
    assert found.bytes_per_request / GIB == pytest.approx(0.164, abs=5e-4)
    assert found.query_heads_factor == 7
    assert 2 * 3584 * 28 * 8 / found.bytes_per_token == 28
    seen = invoke("kv-cache", "Qwen2.5-7B", "--tokens", "3072")
    assert "a token keeps 56 KiB: 2 x 28 layers x 4 KV heads x 128 x 2 B" in seen.out
    assert "3,072 tokens: 168 MiB" in seen.out
    assert "7 query heads share a KV head: a formula with all of them is 7 times too large" in seen.out


def test_a_log_gives_blocks_and_concurrency():
    """vllm-project/vllm#10517: 20,000 tokens fit, 29,000 do not, 35,000 do, as the profiling batch was smaller."""
    budgets = [
        Budget(total_bytes=23.58 * GIB, peak_bytes=peak * GIB, other_bytes=0.35 * GIB, max_tokens=most)
        for peak, most in ((17.06, 20_000), (17.98, 29_000), (15.05, 35_000))
    ]
    rooms = kv_cache(grouped(layers=32, kv_heads=8, head_dim=128), budgets=budgets).rooms
    assert [one.blocks for one in rooms] == pytest.approx([1952, 1478, 2980], rel=0.005)
    assert [round(one.concurrency, 2) for one in rooms] == [1.56, 0.82, 1.36]
    assert [one.fits for one in rooms] == [True, False, True]
    seen = invoke(
        "kv-cache", "--layers", "32", "--kv-heads", "8", "--head-dim", "128", "--total", "23.58GiB",
        "--peak", "17.06GiB,17.98GiB,15.05GiB", "--other", "0.35GiB", "--max-model-len", "20000,29000,35000",
    )  # fmt: skip
    assert "29,000 > 23,680 tokens: does not fit" in seen.out
    assert seen.out.count("does not fit") == 2


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--layers", "2"),
        ("--layers", "2", "--kv-heads", "3", "--head-dim", "8", "--heads", "4"),
        ("--layers", "0", "--kv-heads", "3", "--head-dim", "8"),
        ("--layers", "2", "--kv-heads", "8", "--head-dim", "8", "--tp", "3"),
        ("--layers", "2", "--kv-heads", "8", "--head-dim", "8", "--kv-dtype", "fp3"),
        ("--layers", "2", "--kv-heads", "8", "--head-dim", "8", "--total", "24GB"),
        ("--layers", "2", "--kv-heads", "8", "--head-dim", "8", "--peak", "24GB"),
        ("--layers", "2", "--kv-heads", "8", "--head-dim", "8", "--total", "9GB", "--peak", "1GB",
         "--utilization", "2"),
        ("--layers", "2", "--kv-heads", "8", "--head-dim", "8", "--total", "9GB", "--peak", "1GB,2GB",
         "--max-model-len", "1,2,3"),
        ("Qwen2.5-7B", "--layers", "3"),
        ("no-such-model-at-all",),
        ("google-bert/bert-base-uncased",),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(arguments):
    assert_refused(invoke("kv-cache", *arguments))


def test_bad_numbers_are_named():
    with pytest.raises(FieldError, match="heads must be a multiple of kv_heads, got 4 and 3"):
        grouped(layers=1, kv_heads=3, head_dim=8, heads=4)
