"""`synperf estimate`."""

import json
from pathlib import Path

import pytest

from .runner import assert_refused, invoke

QWEN = ("estimate", "Qwen/Qwen3-32B", "--gpu", "h100_sxm", "--tp", "2", "--engine", "sglang")
BATCH = (*QWEN, "--isl", "1024", "--osl", "64", "--batch", "8")
PROMISED = {
    "model", "gpu", "engine", "plan", "workload", "fits", "memory", "ttft_s", "tpot_s", "decode_step_s", "itl_s",
    "e2e_s", "tokens_per_s", "tokens_per_s_per_gpu", "breakdown",
}  # fmt: skip


def told(*arguments: str) -> dict:
    seen = invoke(*arguments, "--json")
    assert (seen.code, seen.err) == (0, "")
    return json.loads(seen.out)


def test_json_of_a_static_batch_has_the_keys_that_are_promised() -> None:
    found = told(*BATCH)
    assert set(found) >= PROMISED
    assert {"weights_bytes", "kv_bytes", "activations_bytes", "overhead_bytes", "capacity_bytes", "max_tokens"} <= set(
        found["memory"]
    )
    assert (found["workload"]["kind"], found["plan"]["gpus"], found["fits"]) == ("static", 2, True)
    assert found["tpot_s"] == pytest.approx((found["e2e_s"] - found["ttft_s"]) / 63)
    assert found["tokens_per_s"] == pytest.approx(8 * 64 / found["e2e_s"])
    assert sum(one["share"] for one in found["breakdown"]) == pytest.approx(1.0)
    assert 0 < found["floor_s"] < found["e2e_s"]


def test_one_token_has_no_time_between_tokens() -> None:
    found = told(*QWEN, "--isl", "1024")
    assert not {"tpot_s", "itl_s", "decode_step_s"} & set(found)
    assert found["ttft_s"] == found["e2e_s"]


def test_clients_see_a_burst_and_what_comes_after_it() -> None:
    found = told(*QWEN, "--isl", "1024", "--osl", "128", "--concurrency", "16")
    assert found["ttft_steady_s"] < found["ttft_s"] < found["ttft_p99_s"]
    assert found["mean_concurrency"] == pytest.approx(found["requests_per_s"] * found["e2e_s"])
    assert found["workload"]["num_requests"] == 160


def test_a_rate_beyond_what_the_gpus_can_do_queues() -> None:
    slow, fast = (
        told(*QWEN, "--isl", "1024", "--osl", "64", "--request-rate", rate, "--num-requests", "200")
        for rate in ("1", "1000")
    )
    assert slow["requests_per_s"] == pytest.approx(1, rel=0.2)
    assert fast["requests_per_s"] < 100
    assert fast["ttft_s"] > 10 * slow["ttft_s"]


def test_requests_may_stand_in_a_file(tmp_path: Path) -> None:
    batch, trace = tmp_path / "batch.json", tmp_path / "trace.csv"
    batch.write_text(json.dumps({"requests": [{"isl": 1024, "osl": 64}] * 8}))
    alike = told(*QWEN, "--batch-file", str(batch))
    assert alike["e2e_s"] == pytest.approx(told(*BATCH)["e2e_s"])
    trace.write_text("arrived_at_s,isl,osl\n0,1024,64\n2.5,512,32\n")
    found = told(*QWEN, "--workload", str(trace))
    assert (found["workload"]["kind"], found["workload"]["requests"]) == ("trace", 2)


def test_unequal_answers_end_one_after_another(tmp_path: Path) -> None:
    batch = tmp_path / "batch.json"
    batch.write_text(json.dumps({"requests": [{"isl": 1024, "osl": n} for n in (1, 33, 65, 129)]}))
    found = told(*QWEN, "--batch-file", str(batch))
    assert found["ttft_s"] < found["e2e_p50_s"] < found["e2e_p99_s"]


def test_what_does_not_fit_has_no_times_and_says_what_would() -> None:
    found = told("estimate", "Llama-3.1-70B", "--gpu", "h100_sxm", "--isl", "4096", "--osl", "512")
    assert not found["fits"]
    assert not any(name.endswith("_s") for name in found)
    assert "tp 2" in found["would_fit"]


def test_text_puts_what_requests_see_first() -> None:
    seen = invoke(*BATCH)
    assert seen.code == 0
    lines = seen.out.splitlines()
    assert lines[0] == (
        "Qwen/Qwen3-32B on 2 GPUs of h100_sxm (tp 2), sglang, a batch of 8 requests, 1024 tokens in, 64 out"
    )
    assert [line.split()[0] for line in lines[3:6]] == ["TTFT", "TPOT", "ITL"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*QWEN, "--batch", "4"), "isl: none given; right would be --isl TOKENS"),
        ((*QWEN, "--isl", "0"), "isl must be a whole number from 1"),
        ((*QWEN, "--isl", "-5", "--concurrency", "4"), "isl must be a whole number from 1"),
        ((*QWEN, "--isl", "16", "--osl", "0"), "osl must be a whole number from 1"),
        ((*QWEN, "--isl", "16", "--batch", "4", "--concurrency", "4"), "batch and concurrency: one load at a time"),
        ((*QWEN, "--isl", "16", "--num-requests", "4"), "num-requests: it is for --concurrency and --request-rate"),
        ((*QWEN, "--isl", "16", "--concurrency", "4", "--length-spread", "1,x"), "length_spread must be two numbers"),
        (
            (*QWEN, "--isl", "16", "--request-rate", "0"),
            "request_rate must be a number of requests per second",
        ),
        ((*QWEN, "--batch-file", "no.json"), "batch_file: no file 'no.json'"),
        ((*QWEN[:-1], "vlm", "--isl", "16"), "engine: no engine named 'vlm'; nearest: vllm"),
        ((*QWEN[:-3], "3", "--isl", "16"), "tp must divide the 64 heads"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], message: str) -> None:
    seen = invoke(*arguments)
    assert_refused(seen)
    assert seen.err.startswith(f"synperf: {message}"), seen.err
