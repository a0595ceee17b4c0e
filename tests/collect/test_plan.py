"""Which calls are planned: grids, what is left out and why, and how a few are chosen of many."""

from collections import Counter

import pytest

from synperf.collect.families import families
from synperf.collect.plan import make_plan
from synperf.collect.request import parse_families
from synperf.errors import FieldError, UnknownNameError

from .small import CACHE_BYTES, quick, request, with_memory

EVERY = (
    "attention", "conv", "copy", "elementwise", "gelu_mul", "gemm", "layernorm", "quantize", "reduction", "rmsnorm",
    "rope", "silu_mul", "softmax",
)  # fmt: skip


@pytest.fixture
def cpu(monkeypatch):
    return quick(monkeypatch)


def test_every_family_of_the_documentation_can_be_timed():
    assert tuple(sorted(families())) == EVERY


def test_values_of_the_user_stand_in_the_place_of_the_grid(cpu):
    plan = make_plan(request("gemm", "m=1,48", "n=64", "k=32,64"), cpu)
    assert sorted((c.fields["m"], c.fields["n"], c.fields["k"]) for c in plan.cases) == [
        (1, 64, 32), (1, 64, 64), (48, 64, 32), (48, 64, 64),
    ]  # fmt: skip
    assert len(plan.units()) == 8
    assert [case.call_s for case in plan.cases] == sorted(case.call_s for case in plan.cases)


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("gemm", "q=1"), "gemm: no field named 'q'"),
        (("gemm", "m=0"), "gemm: m must be a whole number from 1 to 2147483647, got '0'"),
        (("gemm", "m=1.5"), "gemm: m must be a whole number from 1 to 2147483647, got '1.5'"),
        (("gemm", "m=true"), "gemm: m must be a whole number from 1 to 2147483647, got 'True'"),
        (("reduction", "axis=2"), "reduction: axis must be one of 1, 0, got '2'"),
        (("conv", "layout=hwcn"), "conv: layout must be one of nchw, nhwc, got 'hwcn'"),
        (("attention", "causal=1"), "attention: causal must be one of true, false, got '1'"),
        (
            ("attention", "q_len=8", "kv_len=16"),
            "attention: no values that are given go together; right would be as many",
        ),
        (
            ("gemm", "softmax", "rope", "dim=3"),
            "rope: no values that are given go together; right would be an even dim",
        ),
    ],
)
def test_a_value_that_is_none_is_one_sentence(words, wrong, cpu):
    with pytest.raises(FieldError) as error:
        make_plan(request(*words), cpu)
    assert wrong in str(error.value)


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("gem",), "no family to collect named 'gem'; nearest: gemm"),
        (("m=1", "gemm"), "'m=1' is KEY=VALUE; the family comes before it"),
        (("gemm", "gemm"), "gemm is given twice"),
        (("gemm", "m=1", "m=2"), "m is given twice"),
    ],
)
def test_words_that_name_no_family_are_refused(words, wrong):
    with pytest.raises((FieldError, UnknownNameError)) as error:
        parse_families(words)
    assert wrong in str(error.value)


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"dtypes": ("fp99",)}, "dtype must be one of fp32, fp16, bf16, fp8, int8, got 'fp99'"),
        ({"minutes": 0.0}, "minutes must be above 0"),
        ({"minutes": float("nan")}, "minutes must be above 0"),
        ({"l2": ("hot",)}, "l2 must be warm or cold, got 'hot'"),
    ],
)
def test_a_request_that_cannot_be_is_refused(changes, wrong):
    with pytest.raises(FieldError) as error:
        request("gemm", **changes)
    assert wrong in str(error.value)


@pytest.mark.parametrize("name", EVERY)
def test_a_family_is_planned_with_its_own_values(name, cpu):
    plan = make_plan(request(name, minutes=0.01), cpu)
    assert plan.cases
    assert len(plan.cases) + sum(plan.skipped.values()) == len(families()[name].cases({}, "fp32"))


def test_what_does_not_fit_the_memory_is_counted(cpu):
    small = with_memory(cpu, 2 * CACHE_BYTES + 3 * 4 * (64 * 64 * 3))
    plan = make_plan(request("gemm", "m=64", "n=64,65", "k=64"), small)
    assert [case.fields["n"] for case in plan.cases] == [64]
    assert plan.skipped == {"gemm: do not fit the memory": 1}


@pytest.mark.parametrize(
    "words", [("gemm", "m=2147483647", "n=2147483647", "k=2147483647"), ("copy", "rows=2147483647")]
)
def test_what_no_memory_holds_is_counted_and_never_tried(cpu, words):
    with pytest.raises(FieldError, match=rf"no call can be timed \({words[0]}: do not fit the memory: \d+"):
        make_plan(request(*words), cpu)


def test_what_takes_longer_than_the_minutes_is_never_tried(cpu, monkeypatch):
    monkeypatch.setattr("torch.matmul", lambda *_: pytest.fail("it was run"))
    with pytest.raises(FieldError, match=r"no call can be timed \(gemm: do not fit the minutes: 1\)"):
        make_plan(request("gemm", "m=2048", "n=2048", "k=2048", minutes=1e-3), cpu)


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("gemm", "m=99999999999999999999"), "gemm: m must be a whole number from 1 to 2147483647, got '9999999999"),
        (("elementwise", f"elements={2**53 + 1}"), f"elements must be a whole number from 1 to {2**53}, got"),
        (("gemm", f"m=1{'0' * 4000}"), "gemm: m must be a whole number from 1 to 2147483647, got '1"),
        (
            ("gemm", f"m={','.join(map(str, range(1, 1001)))}"),
            "gemm: the values make more than 100,000 calls; right would be fewer values, for at most 100,000",
        ),
        (
            ("gemm", *(f"{name}={','.join(map(str, range(1, 200)))}" for name in "mnk")),
            "gemm: the values go together in 7,880,599 ways; right would be fewer values, for at most 2,000,000",
        ),
    ],
)
def test_values_that_cannot_be_are_refused_before_anything_is_made(words, wrong):
    with pytest.raises(FieldError) as error:
        request(*words)
    assert wrong in str(error.value)
    assert len(str(error.value)) < 200


def test_a_format_that_torch_or_the_device_lacks_is_counted_with_the_reason(cpu, monkeypatch):
    plan = make_plan(request("softmax", "rows=1,2", "dim=8", dtypes=("fp32", "fp8")), cpu)
    assert plan.skipped == {"softmax: torch has no fp8 of it here": 2}

    def refuse(*_, **__):
        raise RuntimeError('"softmax" not implemented\nmore')

    monkeypatch.setattr("torch.softmax", refuse)
    with pytest.raises(FieldError, match=r'softmax: .* lacks fp32 \("softmax" not implemented\): 2'):
        make_plan(request("softmax", "rows=1,2", "dim=8"), cpu)


def test_few_calls_of_many_take_no_longer_than_the_minutes_and_are_spread_over_every_field(cpu):
    plan = make_plan(request("gemm", minutes=0.05), cpu)
    assert sum(case.timing_s for case in plan.cases) <= 0.05 * 60
    assert len(plan.cases) + sum(plan.skipped.values()) == 15 * 12 * 12
    for name, values in (("m", 15), ("n", 12), ("k", 12)):
        counts = Counter(case.fields[name] for case in plan.cases)
        assert len(counts) >= values / 2
        assert max(counts.values()) <= len(plan.cases) / 2


def test_the_choice_follows_from_the_seed(cpu):
    plans = [make_plan(request("softmax", minutes=0.02, seed=seed), cpu).cases for seed in (0, 0, 1)]
    assert plans[0] == plans[1] != plans[2]


def test_a_family_with_few_calls_leaves_its_time_to_the_others(cpu):
    alone = make_plan(request("gemm", minutes=0.04), cpu)
    both = make_plan(request("gemm", "softmax", "rows=1", "dim=8", minutes=0.04), cpu)
    gemms = [case for case in both.cases if case.family == "gemm"]
    assert len(gemms) > 0.8 * len(alone.cases)
