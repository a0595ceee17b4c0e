"""Memory of a model on a GPU: the numbers of 3.6, and what does not fit."""

import pytest

import synperf
from synperf import FieldError, Plan
from synperf.serving.memory import memory

H100 = synperf.gpu("h100_sxm")
LLAMA = synperf.model("Llama-3.1-70B")


def test_tokens_that_fit_are_what_weights_and_activations_leave():
    found = memory(LLAMA, H100, Plan(tp=4), activations_bytes=2e9)
    assert found.max_tokens == 423_866
    assert (found.kv_bytes_per_token, found.kv_bytes_per_token_per_gpu) == (327_680, 81_920)
    assert found.weights_bytes == pytest.approx(35.28e9, rel=1e-4)
    assert found.assumptions == ()


def test_what_is_assumed_is_said():
    assert memory(LLAMA, H100, Plan(tp=4)).assumptions == ("activations_bytes: 2e+09, which nothing measured",)


def test_weights_that_are_larger_than_the_memory_do_not_fit():
    found = memory(LLAMA, H100, Plan())
    assert (found.fits, found.max_tokens) == (False, 0)


def test_requests_fit_as_long_as_all_of_them_have_room():
    most = memory(LLAMA, H100, Plan(tp=4), seq=8192).max_requests
    assert most == 51
    assert memory(LLAMA, H100, Plan(tp=4), seq=8192, batch=most).fits
    assert not memory(LLAMA, H100, Plan(tp=4), seq=8192, batch=most + 1).fits


def test_an_encoder_keeps_no_tokens():
    found = memory(synperf.model("bert-large"), H100, Plan())
    assert (found.max_tokens, found.kv_bytes_per_token, found.fits) == (None, 0, True)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"utilization": 0}, "utilization must be above 0 and up to 1, got 0"),
        ({"utilization": float("nan")}, "utilization must be above 0"),
        ({"activations_bytes": -1}, "activations_bytes must be from 0 to 1e15, got -1"),
        ({"seq": 0}, "seq must be a whole number from 1"),
        ({"seq": 1, "batch": -2}, "batch must be a whole number from 1"),
    ],
)
def test_numbers_out_of_range_are_refused(fields, message):
    with pytest.raises(FieldError, match=message):
        memory(LLAMA, H100, Plan(tp=4), **fields)
