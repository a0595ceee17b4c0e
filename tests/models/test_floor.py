"""What no pass does without, against the table of measured runs: times of real GPUs are above it."""

import pytest

from synperf import models
from synperf.models import Plan, decode, pass_bytes, pass_flop, prefill

from .test_calls import ARXIV_8, ARXIV_16

# GPU: dense bf16 FLOP per s and bytes per s; then floor and measured milliseconds of prefill and of a decode step.
QWEN_ARXIV_8 = [
    ("A100", 311.87e12, 2039e9, 2525, 3383, 16.5, 23.6),
    ("L20", 119.6e12, 864e9, 6584, 7617, 38.9, 51.0),
    ("L40", 181.05e12, 864e9, 4351, 8132, 38.9, 48.9),
    ("RTX 6000 Ada", 364.25e12, 960e9, 2162, 8016, 35.0, 40.3),
    ("H20", 146.2e12, 4022.7e9, 5388, 5718, 8.35, 18.0),
    ("H100", 989.43e12, 3352.3e9, 796, 1206, 10.0, 14.4),
    ("H200", 989.43e12, 4916.8e9, 796, 1224, 6.83, 12.0),
    ("RTX A6000", 154.83e12, 768e9, 5087, 6709, 43.7, 50.9),
    ("RTX PRO 6000", 450.6e12, 1792e9, 1748, 2176, 18.7, 26.0),
]


@pytest.mark.parametrize("row", QWEN_ARXIV_8, ids=lambda row: row[0])
def test_floors_are_those_of_the_table_and_below_what_was_measured(row):
    _, flop_per_s, bytes_per_s, prefill_ms, measured_prefill, decode_ms, measured_decode = row
    qwen = models.model("Qwen2.5-14B")
    found = pass_flop(qwen, prefill(ARXIV_8)) / flop_per_s * 1e3
    assert found == pytest.approx(prefill_ms, rel=2e-3)
    assert found < measured_prefill
    step = pass_bytes(qwen, Plan(), decode([length + 61 for length in ARXIV_8])) / bytes_per_s * 1e3
    assert step == pytest.approx(decode_ms, rel=5e-3)
    assert step < measured_decode


def test_floors_of_llama_70b_on_eight_h800():
    llama, plan = models.model("Llama-3.1-70B"), Plan(tp=8)
    assert pass_flop(llama, prefill(ARXIV_16)) / 8 / 989.43e12 * 1e3 == pytest.approx(623, rel=1e-3)
    step = pass_bytes(llama, plan, decode([length + 20 for length in ARXIV_16])) / 3352.3e9 * 1e3
    assert step == pytest.approx(6.16, rel=2e-3)


def test_a_window_is_all_that_a_query_sees():
    mistral = models.model("Mistral-7B-v0.1")
    linear = 2 * models.linear_parameters(mistral)
    per_key = 4 * 32 * 32 * 128
    assert pass_flop(mistral, decode([100_000])) - linear == per_key * 4096
    assert pass_flop(mistral, prefill([8192])) - 8192 * linear == per_key * (4096 * 2048 + 4096 * 4096)


def test_chunks_together_compute_what_the_whole_prompt_does():
    llama = models.model("Llama-3.1-8B")
    whole = pass_flop(llama, prefill([4096]))
    chunks = [models.Batch((models.Requests(q_len=1024, kv_len=end),)) for end in (1024, 2048, 3072, 4096)]
    assert sum(pass_flop(llama, chunk) for chunk in chunks) == whole
