"""Which fitted factors answer for a stack, and what they say of it."""

import pytest

from synperf.hardware import DType, gpu
from synperf.models import Plan, model
from synperf.serving.stack_file import shipped
from synperf.serving.stacks import stack

DENSE = model("Qwen/Qwen3-32B")


def test_the_nearest_that_was_measured_answers_and_says_so():
    levels = {
        "recipe": (Plan(tp=2, engine="vllm"), "h100_sxm"),
        "family": (Plan(tp=2, dtype=DType.FP8, engine="sglang"), "h100_sxm"),
        "stack": (Plan(tp=2, engine="vllm"), "b300_sxm"),
        "engine": (Plan(tp=2, engine="vllm"), "a100_sxm"),
    }
    for level, (plan, name) in levels.items():
        found = stack(DENSE, plan, gpu(name))
        assert found.level == level
        assert name in found.origin
        assert found.tpot is not None
        assert found.tpot.low < 1 < found.tpot.high


def test_factors_of_an_engine_that_serves_nobody_are_bare():
    found = stack(DENSE, Plan(engine="torch"), gpu("h100_sxm"))
    assert (found.level, found.tpot, found.ratios(16, 1024, 128)) == ("general", None, (1.0, 1.0))
    assert found.factors.decode_kernels == 1.0


def test_a_version_is_of_the_source_that_ran_it():
    plan = Plan(tp=8, engine="vllm")
    assert "local" in stack(DENSE, plan, gpu("h100_sxm"), "0.12.0").origin
    assert "daily" in stack(DENSE, plan, gpu("h100_sxm"), "0.18.0").origin


def test_another_checkpoint_of_a_family_has_its_factors():
    one = stack(model("meta-llama/Llama-3.1-70B"), Plan(tp=4, dtype=DType.FP8, engine="vllm"), gpu("h200_sxm"))
    other = stack(model("meta-llama/Meta-Llama-3-70B"), Plan(tp=4, dtype=DType.FP8, engine="vllm"), gpu("h200_sxm"))
    assert one.factors == other.factors
    assert one.level == "recipe"


def test_ratios_fade_far_from_what_was_measured():
    found = stack(DENSE, Plan(tp=2, engine="vllm"), gpu("h100_sxm"))
    near, far = found.ratios(16, 1024, 512), found.ratios(16_384, 2**20, 2**20)
    assert all(0.3 < ratio < 3 for ratio in (*near, *far))


def test_intervals_widen_the_further_what_was_measured_is():
    spreads = [shipped().spreads[level] for level in ("recipe", "family", "stack")]
    widths = [one.tpot.high / one.tpot.low for one in spreads]
    assert widths == sorted(widths)


def test_the_file_says_what_it_rests_on_and_no_factor_is_below_0():
    known = shipped()
    assert {"source", "rows", "set_aside", "test_half", "command"} <= set(known.provenance)
    for level in known.levels:
        assert all(getattr(level.factors, name) >= 0 for name in level.factors.__dataclass_fields__), level.key
    for one in known.measured:
        assert len(one.loads) == len(one.ttft) == len(one.tpot)


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
def test_every_engine_has_factors_for_gpus_that_nobody_measured(engine):
    assert stack(DENSE, Plan(tp=2, engine=engine), gpu("l40s")).level == "engine"
