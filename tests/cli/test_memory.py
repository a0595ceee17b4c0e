"""`synperf memory`."""

import json

import pytest

from .runner import assert_refused, invoke

LLAMA = ("memory", "Llama-3.1-70B", "--gpu", "h100_sxm")


def test_json_has_the_keys_that_are_promised():
    seen = invoke(*LLAMA, "--tp", "4", "--activations-bytes", "2GB", "--json")
    assert (seen.code, seen.err) == (0, "")
    found = json.loads(seen.out)
    assert (found["parameters"], found["max_tokens"], found["fits"]) == (70_553_706_496, 423_866, True)
    assert (found["kv_bytes_per_token"], found["kv_bytes_per_token_per_gpu"]) == (327_680, 81_920)
    assert found["weights_bytes"] == pytest.approx(35.28e9, rel=1e-4)
    assert "kv_bytes" not in found


def test_text_tells_what_fits():
    seen = invoke(*LLAMA, "--tp", "4", "--seq", "8192", "--batch", "16", "--activations-bytes", "2GB")
    assert seen.out == (
        "meta-llama/Llama-3.1-70B on 4 GPUs of h100_sxm: fits\n\n"
        "parameters   70,553,706,496\n"
        "weights      35.28 GB on each GPU\n"
        "activations  2 GB\n"
        "cache        81.92 kB a token, of 327.7 kB in all; 10.74 GB for 16 requests of 8,192 tokens\n"
        "usable       72 GB of 80 GB\n"
        "fits         51 requests of that length; 423,866 tokens\n\n"
        "why\n"
        "  90 % of 80 GB less 35.28 GB of weights and 2 GB of activations leave 34.72 GB for the cache\n"
        "  at 81.92 kB a token that is 423,866 tokens\n\n"
        "advice\n"
        "  more tokens fit with a narrower cache (--kv-dtype fp8), or over more GPUs (--tp)\n"
    )


def test_what_does_not_fit_is_an_answer():
    seen = invoke(*LLAMA)
    assert seen.code == 0
    assert seen.out.startswith("meta-llama/Llama-3.1-70B on 1 GPU of h100_sxm: does not fit\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Llama-3.1-71B", "--gpu", "h100_sxm"), "model: no model named 'Llama-3.1-71B'; nearest: "),
        (("Llama-3.1-70B",), "gpu: none given"),
        ((*LLAMA[1:], "--tp", "3"), "tp must divide the 64 heads"),
        ((*LLAMA[1:], "--tp", "-1"), "tp must be a whole number from 1"),
        ((*LLAMA[1:], "--batch", "4"), "seq: none given; right would be --seq TOKENS"),
        ((*LLAMA[1:], "--dtype", "fp9"), "dtype: no dtype named 'fp9'"),
        ((*LLAMA[1:], "--activations-bytes", "much"), "activations-bytes: 'much' is not a number"),
        ((*LLAMA[1:], "--utilization", "2"), "utilization must be above 0 and up to 1, got 2"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    seen = invoke("memory", *arguments)
    assert_refused(seen)
    assert seen.err.startswith(f"synperf: {message}")


def test_an_unknown_architecture_is_named_with_what_it_lacks(tmp_path):
    (tmp_path / "config.json").write_text('{"architectures": ["FooForCausalLM"], "hidden_size": 64}')
    seen = invoke("memory", str(tmp_path), "--gpu", "h100_sxm")
    assert_refused(seen)
    assert "no architecture named 'FooForCausalLM'" in seen.err
    assert "it lacks num_hidden_layers, num_attention_heads, intermediate_size, vocab_size" in seen.err
