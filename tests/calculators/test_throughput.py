"""Figures of a serving benchmark, put together. The first case is vllm-project/vllm#12845."""

import pytest

from synperf import FieldError
from synperf.calculators.throughput import throughput

PRINTED = {
    "requests": 772,
    "duration_s": 329.83,
    "input_tokens": 130_743,
    "output_tokens": 174_589,
    "mean_ttft_s": 0.24949,
    "mean_tpot_s": 0.10819,
}


def test_tokens_of_all_and_of_one_are_both_true() -> None:
    found = throughput(**PRINTED)
    assert found.mean_output_tokens == pytest.approx(226.2, rel=1e-3)
    assert found.mean_latency_s == pytest.approx(24.6, rel=0.005)
    assert found.request_rate_per_s == pytest.approx(2.34, rel=0.005)
    assert found.mean_concurrency == pytest.approx(57.6, rel=0.005)
    assert found.tokens_per_s_per_user == pytest.approx(9.24, rel=0.001)
    assert found.tokens_per_s == pytest.approx(529.3, rel=1e-3)
    assert found.consistent
    assert found.why == ("529.3 tokens/s are the sum over 57.6 requests in flight; one of them sees 9.24",)


def test_littles_law_joins_them() -> None:
    found = throughput(**PRINTED)
    assert found.mean_concurrency == pytest.approx(found.request_rate_per_s * found.mean_latency_s)


def test_a_throughput_of_another_run_is_found() -> None:
    found = throughput(**PRINTED, tokens_per_s=900)
    assert not found.consistent
    assert found.findings[0] == "tokens_per_s: 900 was printed, but tokens over duration are 529.3"


def test_more_in_flight_than_there_can_be_is_found() -> None:
    assert not throughput(**PRINTED, max_concurrency=16).consistent
    assert throughput(**PRINTED, max_concurrency=64).consistent


@pytest.mark.parametrize(("name", "value"), [("duration_s", 0.0), ("mean_tpot_s", float("nan")), ("requests", 0)])
def test_bad_figures_are_named(name: str, value: float) -> None:
    with pytest.raises(FieldError, match=name):
        throughput(**{**PRINTED, name: value})


def test_fewer_tokens_than_requests_are_refused() -> None:
    with pytest.raises(FieldError, match="output_tokens must be at least one for each of the 772 requests, got 5"):
        throughput(**{**PRINTED, "output_tokens": 5})
