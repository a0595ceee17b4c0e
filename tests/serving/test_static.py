"""Static batches: parts add up, two steps stand for all of a span, and many loads at once are each as alone."""

import numpy as np
import pytest

from synperf import FieldError, hardware
from synperf.models import Plan, Requests, calls, decode, model, prefill
from synperf.models.batch import Batch
from synperf.serving.factors import ITERATION, Factors
from synperf.serving.in_step import in_step
from synperf.serving.static import DECODE, PREFILL, static
from synperf.serving.static_load import Listed, Uniform

H100 = hardware.gpu("h100_sxm")
QWEN = model("Qwen/Qwen2.5-14B")
ARXIV_8 = [2648, 3740, 3761, 3866, 3777, 3508, 3227, 3439]
FACTORS = Factors(
    decode_kernels=0.9, decode_attention=1.2, prefill_kernels=1.1, prefill_attention=0.8, collectives=0.7,
    decode_host_s=1e-3, decode_request_s=1e-5, prefill_host_s=5e-3, prefill_token_s=1e-7,
)  # fmt: skip
PLANS = [
    ("Qwen/Qwen2.5-14B", Plan(tp=2, engine="sglang")),
    ("deepseek-ai/DeepSeek-V3", Plan(tp=8, engine="sglang")),
    ("Qwen/Qwen3-30B-A3B", Plan(tp=2, ep=2, engine="vllm")),
    ("Qwen/Qwen3-Next-80B-A3B-Instruct", Plan(tp=2, engine="vllm")),
]


def seconds(name: str, plan: Plan, batch: Batch) -> float:
    """The sum of the kernels of one pass."""
    return sum(one.count * in_step(one.call, H100).time_s for one in calls(model(name), plan, batch))


@pytest.mark.parametrize(("name", "plan"), PLANS)
def test_the_total_is_the_prefill_and_all_steps_of_their_mean(name: str, plan: Plan) -> None:
    found = static(model(name), plan, H100, Uniform(batch=8, isl=1000, osl=101), FACTORS)
    assert found.steps == 100
    assert found.total_s == pytest.approx(found.prefill_s + 100 * found.decode_step_s)
    assert sum(part.time_s for part in found.parts) == pytest.approx(found.total_s)


def test_a_prefill_is_the_sum_of_its_calls() -> None:
    found = static(QWEN, Plan(engine="sglang"), H100, Listed(isl=ARXIV_8))
    assert found.prefill_s == pytest.approx(seconds("Qwen/Qwen2.5-14B", Plan(engine="sglang"), prefill(ARXIV_8)))
    assert found.decode_s == 0


@pytest.mark.parametrize(("name", "plan"), PLANS)
def test_two_steps_stand_for_all_of_a_span(name: str, plan: Plan) -> None:
    found = static(model(name), plan, H100, Uniform(batch=16, isl=900, osl=201))
    every = [seconds(name, plan, Batch((Requests(count=16, kv_len=900 + step),))) for step in range(1, 201)]
    assert found.decode_s == pytest.approx(sum(every), rel=0.01)


def test_two_steps_stand_for_all_where_requests_leave() -> None:
    osl = [20, 60, 60, 150]
    found = static(QWEN, Plan(engine="sglang"), H100, Listed(isl=[500, 900, 100, 2000], osl=osl))
    every = 0.0
    for step in range(1, 150):
        running = [isl + step for isl, out in zip([500, 900, 100, 2000], osl, strict=True) if out - 1 >= step]
        every += seconds("Qwen/Qwen2.5-14B", Plan(engine="sglang"), decode(running))
    assert found.decode_s == pytest.approx(every, rel=0.01)


def test_many_loads_at_once_are_each_as_alone() -> None:
    batch, isl, osl = np.array([1, 8, 64, 3]), np.array([100, 2000, 512, 9]), np.array([1, 200, 17, 2])
    plan = Plan(tp=2, engine="vllm")
    many = static(QWEN, plan, H100, Uniform(batch=batch, isl=isl, osl=osl), FACTORS)
    for at in range(4):
        one = static(QWEN, plan, H100, Uniform(batch=int(batch[at]), isl=int(isl[at]), osl=int(osl[at])), FACTORS)
        assert many.prefill_s[at] == pytest.approx(one.prefill_s, rel=1e-5)
        assert many.decode_s[at] == pytest.approx(one.decode_s, rel=1e-5)
        assert many.prefill_floor_s[at] == pytest.approx(one.prefill_floor_s)


def test_times_are_linear_in_the_factors() -> None:
    plan = Plan(tp=2, engine="sglang")
    found = static(QWEN, plan, H100, Uniform(batch=8, isl=1000, osl=101), FACTORS)
    values = FACTORS.of_iterations()
    assert np.dot(found.columns(PREFILL), values) == pytest.approx(found.prefill_s)
    assert np.dot(found.columns(DECODE), values) == pytest.approx(found.decode_s)
    assert len(found.columns(DECODE)) == len(ITERATION)


def test_the_host_is_a_part_of_both_phases() -> None:
    found = static(QWEN, Plan(engine="sglang"), H100, Uniform(batch=8, isl=1000, osl=101), FACTORS)
    host = {part.phase: part.time_s for part in found.parts if part.family == "host"}
    assert host == {
        PREFILL: pytest.approx(5e-3 + 8000 * 1e-7),
        DECODE: pytest.approx(100 * (1e-3 + 8 * 1e-5)),
    }


def test_no_factor_makes_a_part_faster_than_its_floor() -> None:
    found = static(QWEN, Plan(engine="sglang"), H100, Uniform(batch=8, isl=1000, osl=11), Factors(prefill_kernels=0.01))
    assert found.prefill_s >= found.prefill_floor_s > 0
    assert all(part.low_s <= part.time_s <= part.high_s for part in found.parts)


def test_chunks_read_the_weights_again_and_take_longer() -> None:
    load = Listed(isl=ARXIV_8)
    whole, cut = (
        static(QWEN, Plan(engine="sglang"), H100, load, FACTORS, token_budget=budget) for budget in (None, 512)
    )
    assert cut.prefill_s > whole.prefill_s
    assert cut.counts[PREFILL] == (-(-sum(ARXIV_8) // 512), 0, sum(ARXIV_8))


def test_a_cached_prefix_saves_its_prefill_and_no_decode() -> None:
    fresh, cached = (
        static(QWEN, Plan(engine="sglang"), H100, Uniform(batch=4, isl=4000, osl=50, cached=kept)) for kept in (0, 3000)
    )
    assert cached.prefill_s < 0.5 * fresh.prefill_s
    assert cached.decode_s == fresh.decode_s


def test_padded_batches_take_as_long_as_the_size_that_has_a_graph() -> None:
    def parts(batch: int, padded: tuple[int, ...]) -> dict[str, float]:
        found = static(QWEN, Plan(engine="sglang"), H100, Uniform(batch=batch, isl=500, osl=9), padded=padded)
        return {part.part: part.time_s for part in found.parts if part.phase == DECODE}

    padded, full, own = parts(33, (32, 64)), parts(64, ()), parts(33, ())
    assert padded["gate_up"] == pytest.approx(full["gate_up"])
    assert padded["decode_attention"] == pytest.approx(own["decode_attention"])


def test_stages_run_one_after_another_with_what_they_send() -> None:
    one, two = (static(QWEN, Plan(pp=pp, engine="vllm"), H100, Uniform(batch=8, isl=500, osl=9)) for pp in (1, 2))
    sent = [part for part in two.parts if part.part == "send_recv"]
    assert {part.phase for part in sent} == {PREFILL, DECODE}
    assert two.total_s == pytest.approx(one.total_s + sum(part.time_s for part in sent))


def test_an_encoder_has_no_decode() -> None:
    found = static(model("bert-large-uncased"), Plan(dtype="fp32", engine="torch"), H100, Uniform(batch=8, isl=512))
    assert {part.phase for part in found.parts} == {PREFILL}


def test_a_named_kernel_runs_in_the_place_of_the_engines_own() -> None:
    plan, load = Plan(engine="sglang"), Uniform(batch=8, isl=2000, osl=9)
    own, named = (
        static(QWEN, plan, hardware.gpu("a100_sxm"), load, kernels=kernels)
        for kernels in ({}, {"decode_attention": "flashinfer"})
    )
    assert named.prefill_s == own.prefill_s
    assert named.decode_s != own.decode_s


def test_a_plan_that_does_not_fit_the_model_is_refused() -> None:
    with pytest.raises(FieldError, match="tp must divide the 40 heads"):
        static(QWEN, Plan(tp=3), H100, Uniform(batch=8, isl=512))
