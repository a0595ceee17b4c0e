"""Questions that engineers asked in public, with measured answers.

Sources: hahnyuan/LLM-Viewer#4 with TensorRT-LLM's published A100 figures; meta-pytorch/gpt-fast#225;
noonghunna/club-3090#698 and #702.
"""

import pytest

import synperf
from synperf import Plan, StaticBatch
from synperf.serving.answer import Times

LLAMA = [  # batch, tokens in, tokens out, measured tokens/s, ceiling
    (256, 128, 128, 5353, 8641),
    (32, 128, 2048, 1518, 1996),
    (32, 2048, 128, 547, 699),
    (16, 2048, 2048, 613, 808),
]


def times(model: str, gpu: str, load: StaticBatch, **plan: object) -> Times:
    found = synperf.estimate(model, Plan(**plan), load, gpu).times
    assert found is not None
    return found


@pytest.mark.parametrize(("batch", "isl", "osl", "measured", "ceiling"), LLAMA)
def test_a_throughput_is_below_what_bandwidth_allows(
    batch: int, isl: int, osl: int, measured: float, ceiling: float
) -> None:
    found = times("huggyllama/llama-7b", "a100_sxm", StaticBatch.alike(batch, isl, osl), engine="trtllm")
    assert batch * osl / found.roofline_s == pytest.approx(ceiling, rel=0.002)
    assert measured * 0.75 < found.tokens_per_s < min(measured * 1.25, ceiling)


@pytest.mark.parametrize(("isl", "floor_s"), [(128, 6.48e-3), (2048, 88.5e-3)])
def test_a_first_token_is_not_before_its_weights_and_products(isl: int, floor_s: float) -> None:
    found = times("huggyllama/llama-7b", "a100_sxm", StaticBatch.alike(1, isl, 1), engine="trtllm")
    assert found.roofline_s == pytest.approx(floor_s, rel=0.01)
    assert found.ttft.mean > found.roofline_s


def test_one_stream_reads_the_experts_of_one_token() -> None:
    found = times("mistralai/Mixtral-8x7B-v0.1", "a100_sxm", StaticBatch.alike(1, 1, 200), engine="vllm", tp=2)
    assert 200 / found.roofline_s == pytest.approx(158, rel=0.02)
    assert 80 < 1 / found.tpot.mean < 158  # measured: 96
    model = synperf.model("mistralai/Mixtral-8x7B-v0.1")
    assert synperf.models.parameters(model) == pytest.approx(46.7e9, rel=0.01)
    assert synperf.models.active_parameters(model) == pytest.approx(12.88e9, rel=0.01)


@pytest.mark.parametrize("isl", [10_000, 90_000])
def test_a_bridge_pays_for_prompts_and_hardly_for_one_stream_of_tokens(isl: int) -> None:
    load = StaticBatch.alike(1, isl, 64)
    bridge, host = (
        times("Qwen/Qwen3.6-27B", "rtx_3090", load, engine="vllm", tp=2, dtype="int4", link=link)
        for link in ("nvlink_bridge", "pcie4_host")
    )
    assert 1.0 < host.tpot.mean / bridge.tpot.mean < 1.12  # measured: 1.03 to 1.05
    assert 1.25 < host.ttft.mean / bridge.ttft.mean < 1.65  # measured: 1.35 and 1.49
    assert bridge.communication_share < host.communication_share
