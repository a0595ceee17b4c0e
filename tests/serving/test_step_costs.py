"""Costs of iterations are those of their calls, predicted one by one."""

import numpy as np
import pytest

from synperf import gpu
from synperf.models import Batch, Plan, Requests, calls, model
from synperf.serving.factors import ITERATION, Factors
from synperf.serving.in_step import in_step
from synperf.serving.iterations import Iterations, Run
from synperf.serving.stage_costs import Extent
from synperf.serving.step_costs import StepCosts

EXTENT = Extent(tokens=8192, requests=256, length=8192)
PLANS = [
    ("Qwen/Qwen3-32B", Plan(tp=2, engine="vllm")),
    ("deepseek-ai/DeepSeek-V3", Plan(tp=8, engine="sglang")),
    ("Qwen/Qwen3-235B-A22B", Plan(tp=4, ep=4, engine="trtllm")),
    ("Qwen/Qwen3-Next-80B-A3B-Instruct", Plan(tp=2, engine="vllm")),
]
CASES = [  # chunks, their new tokens each, tokens in the cache after them, decodes, their lengths
    (0, 0, 0, 37, 1500),
    (0, 0, 0, 1, 5000),
    (1, 2000, 2000, 64, 900),
    (3, 700, 700, 0, 0),
    (1, 1024, 5120, 20, 3000),
]


def iterations(*cases: tuple[int, int, int, int, int]) -> Iterations:
    """One iteration of each case."""
    chunks, new, kept, decodes, lengths = np.array(cases).T
    pairs = chunks * new * (kept - new + new / 2)
    return Iterations(
        repeats=np.ones(len(cases), dtype=int),
        chunks=chunks,
        prompt_tokens=chunks * new,
        first_tokens=chunks,
        chunk_pairs=pairs.astype(float),
        chunk_kv=(chunks * kept).astype(float),
        decodes=decodes,
        decode_kv=lengths.astype(float),
    )


def exact_s(name: str, plan: Plan, case: tuple[int, int, int, int, int]) -> float:
    chunks, new, kept, decodes, length = case
    requests = [Requests(count=chunks, q_len=new, kv_len=kept)] if chunks else []
    requests += [Requests(count=decodes, kv_len=length)] if decodes else []
    entries = calls(model(name), plan, Batch(tuple(requests)))
    return float(sum(entry.count * in_step(entry.call, gpu("h200_sxm")).time_s for entry in entries))


@pytest.mark.parametrize(("name", "plan"), PLANS)
def test_costs_are_those_of_the_calls(name: str, plan: Plan) -> None:
    costs = StepCosts(model(name), plan, gpu("h200_sxm"), EXTENT).columns(iterations(*CASES))
    off = np.abs(costs[:, :5].sum(axis=1) / [exact_s(name, plan, case) for case in CASES] - 1)
    assert off.mean() < 0.03
    assert off.max() < 0.1  # kernels step with tokens between the points


def test_counts_stand_beside_the_seconds() -> None:
    name, plan = PLANS[0]
    costs = StepCosts(model(name), plan, gpu("h200_sxm"), EXTENT).columns(iterations(*CASES))
    column = {one: costs[:, at] for at, one in enumerate(ITERATION)}
    assert column["decode_host_s"].tolist() == [1, 1, 0, 0, 0]
    assert column["decode_request_s"].tolist() == [37, 1, 0, 0, 0]
    assert column["prefill_host_s"].tolist() == [0, 0, 1, 1, 1]
    assert column["prefill_request_s"].tolist() == [0, 0, 64, 0, 20]
    assert column["prefill_token_s"].tolist() == [0, 0, 2000, 2100, 1024]
    assert np.all(column["decode_kernels"] + column["prefill_kernels"] > 0)


def test_decodes_are_padded_to_the_sizes_of_graphs() -> None:
    name, plan = PLANS[0]
    padded = StepCosts(model(name), plan, gpu("h200_sxm"), EXTENT, padded=(1, 64, 256))
    at = [(0, 0, 0, n, 1000) for n in (37, 64, 65)]
    kernels = padded.columns(iterations(*at))[:, ITERATION.index("decode_kernels")]
    assert kernels[0] == pytest.approx(kernels[1])
    assert kernels[2] > kernels[1]


def test_stages_of_a_pipeline_wait_for_the_slowest() -> None:
    at = iterations((0, 0, 0, 32, 1000))
    one, two = (
        StepCosts(model("meta-llama/Llama-3.1-70B"), Plan(tp=4, pp=pp, engine="vllm"), gpu("h200_sxm"), EXTENT)
        for pp in (1, 2)
    )
    assert two.columns(at)[0, :5].sum() > one.columns(at)[0, :5].sum()


def test_one_run_costs_what_its_row_does() -> None:
    name, plan = PLANS[1]
    costs = StepCosts(model(name), plan, gpu("h200_sxm"), EXTENT, padded=(1, 64, 256))
    factors = Factors(decode_host_s=1e-3, prefill_token_s=1e-6, decode_kernels=0.9)
    columns = iterations(*CASES)
    runs = [Run(*(getattr(columns, field)[at].item() for field in Run._fields)) for at in range(len(CASES))]
    np.testing.assert_allclose(
        [costs.seconds(run, factors) for run in runs], costs.columns(columns) @ factors.of_iterations(), rtol=1e-9
    )
