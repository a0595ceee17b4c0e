"""What requests see of a model under a load: laws that hold whatever the kernels take."""

import dataclasses
from itertools import pairwise

import pytest

import synperf
from synperf import ClosedLoop, FieldError, OpenLoop, Plan, RequestTrace, StaticBatch
from synperf.serving.answer import COLLECTIVES, HOST, Forecast, Times

MODEL, GPU = "Qwen/Qwen3-32B", "h200_sxm"


def ask(load: object, model: str = MODEL, gpu: str = GPU, **plan: object) -> Forecast:
    return synperf.estimate(model, Plan(**{"tp": 2, "engine": "vllm", **plan}), load, gpu)  # type: ignore[arg-type]


def times(load: object, **asked: object) -> Times:
    found = ask(load, **asked).times  # type: ignore[arg-type]
    assert found is not None
    return found


def test_more_clients_wait_longer_for_first_tokens_and_between_tokens() -> None:
    found = [times(ClosedLoop(concurrency=n, isl=2048, osl=128)) for n in (1, 4, 16, 64)]
    assert [one.ttft.mean for one in found] == sorted(one.ttft.mean for one in found)
    assert [one.tpot.mean for one in found] == sorted(one.tpot.mean for one in found)
    assert [one.tokens_per_s for one in found] == sorted(one.tokens_per_s for one in found)


@pytest.mark.parametrize(("model", "plan", "gpu"), [
    ("meta-llama/Llama-3.1-8B", {"tp": 2, "engine": "trtllm", "dtype": "bf16"}, "h100_sxm"),  # points themselves fall
    ("meta-llama/Llama-3.1-70B", {"tp": 8, "engine": "vllm", "dtype": "fp8"}, "b200_sxm"),  # one row was slower
    ("openai/gpt-oss-120b", {"tp": 1, "engine": "trtllm"}, "h200_sxm"),
])  # fmt: skip
def test_stacks_that_were_measured_obey_it_too(model: str, plan: dict, gpu: str) -> None:
    found = [
        times(ClosedLoop(concurrency=n, isl=1024, osl=512), model=model, gpu=gpu, **plan) for n in (1, 2, 4, 8, 16, 32)
    ]
    for one, more in pairwise(found):
        assert more.ttft.mean >= one.ttft.mean * 0.98
        assert more.tpot.mean >= one.tpot.mean * 0.98


@pytest.mark.parametrize("name", ["batch", "isl", "osl"])
def test_a_batch_takes_no_less_where_it_has_more(name: str) -> None:
    sizes = {"batch": 8, "isl": 1000, "osl": 100}
    ends = [times(StaticBatch.alike(**{**sizes, name: sizes[name] * n})).e2e.mean for n in (1, 2, 4, 8)]
    assert all(longer > 0.98 * shorter for shorter, longer in pairwise(ends))


def test_breakdown_adds_up_to_all_iterations() -> None:
    for load in (StaticBatch.alike(8, 1024, 64), ClosedLoop(concurrency=8, isl=1024, osl=64)):
        found = times(load)
        assert sum(one.share for one in found.breakdown) == pytest.approx(1.0, abs=2e-3)
        assert {one.phase for one in found.breakdown} == {"prefill", "decode"}


def test_one_gpu_has_no_communication() -> None:
    assert times(StaticBatch.alike(1, 128, 8), model="Qwen/Qwen3-8B", tp=1).communication_share == 0.0
    assert times(StaticBatch.alike(1, 128, 8)).communication_share > 0.0


def test_a_closed_loop_obeys_littles_law() -> None:
    found = times(ClosedLoop(concurrency=16, isl=1024, osl=64))
    assert found.mean_concurrency == pytest.approx(found.requests_per_s * found.e2e.mean, rel=1e-6)


def test_a_low_rate_is_one_request_after_another() -> None:
    alone = times(ClosedLoop(concurrency=1, isl=1024, osl=64, num_requests=50))
    rare = times(OpenLoop(request_rate=0.01, isl=1024, osl=64, num_requests=50))
    assert rare.ttft.mean == pytest.approx(alone.ttft.mean, rel=0.02)
    assert rare.tpot.mean == pytest.approx(alone.tpot.mean, rel=0.02)


def test_groups_share_the_clients() -> None:
    one = times(ClosedLoop(concurrency=8, isl=1024, osl=64), model="Qwen/Qwen3-8B", tp=1)
    two = times(ClosedLoop(concurrency=16, isl=1024, osl=64), model="Qwen/Qwen3-8B", tp=1, dp=2)
    assert two.tpot.mean == pytest.approx(one.tpot.mean, rel=0.02)
    assert two.tokens_per_s == pytest.approx(2 * one.tokens_per_s, rel=0.02)
    assert two.tokens_per_s_per_gpu == pytest.approx(one.tokens_per_s_per_gpu, rel=0.02)


def test_groups_share_a_trace() -> None:
    trace = RequestTrace(arrived_s=[0.0, 0.0, 1.0, 1.0], isl=[512] * 4, osl=[32] * 4)
    half = RequestTrace(arrived_s=[0.0, 1.0], isl=[512] * 2, osl=[32] * 2)
    two, one = times(trace, model="Qwen/Qwen3-8B", tp=1, dp=2), times(half, model="Qwen/Qwen3-8B", tp=1)
    assert two.ttft.mean == pytest.approx(one.ttft.mean, rel=1e-6)


def test_stages_answer_more_clients_at_once_but_none_sooner() -> None:
    one = times(ClosedLoop(concurrency=64, isl=1024, osl=64))
    two = times(ClosedLoop(concurrency=64, isl=1024, osl=64), pp=2)
    assert two.tokens_per_s > one.tokens_per_s
    alone = [times(ClosedLoop(concurrency=1, isl=1024, osl=64, num_requests=8), pp=pp).tpot.mean for pp in (1, 2)]
    assert alone[1] > 0.98 * alone[0]


def test_prefixes_in_the_cache_are_not_computed_again() -> None:
    cold = times(ClosedLoop(concurrency=4, isl=4096, osl=16))
    warm = times(ClosedLoop(concurrency=4, isl=4096, osl=16, cached=3000))
    assert warm.ttft.mean < 0.6 * cold.ttft.mean


def test_a_cache_without_room_makes_requests_queue() -> None:
    wide = times(ClosedLoop(concurrency=64, isl=8192, osl=256), model="Llama-3.1-70B", tp=8)
    tight = times(ClosedLoop(concurrency=64, isl=8192, osl=256), model="Llama-3.1-70B", tp=2)
    assert tight.ttft.p90 > 10 * wide.ttft.p90


def test_what_does_not_fit_has_no_times() -> None:
    found = ask(StaticBatch.alike(1, 4096, 16), model="Llama-3.1-70B", gpu="h100_sxm", tp=1)
    assert (found.fits, found.times) == (False, None)
    assert found.would_fit


def test_heads_that_do_not_divide_are_refused() -> None:
    with pytest.raises(FieldError, match="tp must divide the 64 heads"):
        ask(StaticBatch.alike(1, 128, 8), tp=3)


def test_ranks_above_the_kv_heads_are_said() -> None:
    found = ask(StaticBatch.alike(1, 128, 8), model="Qwen/Qwen3-235B-A22B", tp=8)
    assert any(said.startswith("tp: 8 is above the 4 KV heads") for said in found.assumptions)


def test_an_encoder_has_a_first_answer_alone() -> None:
    found = times(StaticBatch.alike(8, 512, 1), model="google-bert/bert-large-uncased", tp=1, engine="torch")
    assert found.tpot is None
    assert found.e2e.mean == found.ttft.mean


def test_a_kernel_estimator_may_be_forced() -> None:
    found = synperf.estimate(MODEL, Plan(tp=2, engine="vllm"), StaticBatch.alike(8, 512, 8), GPU, origin="analytical")
    assert {one.origin for one in found.times.breakdown if one.kind not in (HOST, COLLECTIVES)} == {"analytical"}


def test_answers_are_plain_data() -> None:
    found = ask(ClosedLoop(concurrency=2, isl=128, osl=8))
    assert dataclasses.asdict(found)["times"]["ttft"]["mean"] > 0


def test_no_more_are_in_flight_than_there_are_clients() -> None:
    for load in (ClosedLoop(concurrency=64, isl=128, osl=8), ClosedLoop(concurrency=1, isl=1, osl=1)):
        found = times(load, model="Qwen/Qwen3-8B", gpu="l40s", tp=1, engine="sglang")
        assert found.mean_concurrency <= load.concurrency
        assert found.mean_concurrency == pytest.approx(found.requests_per_s * found.e2e.mean, rel=1e-6)


def test_stages_on_several_nodes_need_a_network_and_take_its_time() -> None:
    load = ClosedLoop(concurrency=8, isl=4096, osl=16)
    with pytest.raises(FieldError, match="network: none given for 16 ranks on 2 nodes"):
        ask(load, tp=8, pp=2)
    slow, fast = (times(load, tp=8, pp=2, network=name).ttft.mean for name in ("ethernet_100", "infiniband_xdr"))
    assert slow > fast


def test_an_encoder_serves_no_clients() -> None:
    with pytest.raises(FieldError, match=r"workload: .* is an encoder, which answers a batch at once"):
        ask(ClosedLoop(concurrency=8, isl=128, osl=8), model="google-bert/bert-large-uncased", tp=1)


def test_what_has_no_effect_is_said() -> None:
    found = synperf.estimate(MODEL, Plan(tp=2), ClosedLoop(concurrency=2, isl=128, osl=8), GPU, version="99")
    assert any(said.startswith("engine-version: '99' was not measured here; known: ") for said in found.assumptions)
    encoder = ask(StaticBatch.alike(2, 128, 9), model="google-bert/bert-large-uncased", tp=1, engine="torch")
    assert any(said.startswith("osl: ") for said in encoder.assumptions)


@pytest.mark.parametrize(
    ("name", "plan", "load"),
    [
        ("plan", None, StaticBatch.alike(1, 8, 8)),
        ("plan", {"tp": 2}, StaticBatch.alike(1, 8, 8)),
        ("workload", Plan(), {}),
    ],
)
def test_wrong_types_are_named(name: str, plan: object, load: object) -> None:
    with pytest.raises(FieldError, match=f"^{name} must be "):
        synperf.estimate(MODEL, plan, load, GPU)  # type: ignore[arg-type]
