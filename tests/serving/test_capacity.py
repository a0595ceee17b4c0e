"""What fits, and what would."""

import synperf
from synperf import Plan
from synperf.serving.capacity import capacity

H100 = synperf.gpu("h100_sxm")
LLAMA = synperf.model("Llama-3.1-70B")


def test_a_load_that_fits_has_the_room_that_memory_says() -> None:
    found = capacity(LLAMA, H100, Plan(tp=4), 0.9, 4096, 8)
    assert (found.fits, found.max_tokens, found.would_fit) == (True, 423_866, ())


def test_one_that_does_not_is_told_what_would() -> None:
    found = capacity(LLAMA, H100, Plan(), 0.9, 4096)
    assert not found.fits
    assert found.would_fit == ("tp 2", "dtype fp8", "GPUs of 180 GB, such as b200_sxm")


def test_requests_that_are_too_many_are_told_how_many_fit() -> None:
    found = capacity(LLAMA, H100, Plan(tp=4), 0.9, 131_072, 64)
    assert not found.fits
    assert found.would_fit[0] == "3 requests of that length at once"


def test_where_an_engine_would_take_too_little_it_takes_more_and_says_so() -> None:
    found = capacity(LLAMA, H100, Plan(tp=2), 0.9, 4096, 8)
    assert found.fits
    assert found.assumptions[-1] == "utilization: 0.9 of the memory is too little, so 0.994 is taken"
