"""Quantities of options: the name of an option tells the unit."""

import pytest

from synperf import FieldError
from synperf.cli.quantities import amount_list, amounts


def test_a_quantity_is_read_in_the_unit_of_its_name_and_plain_numbers_are_that_already():
    read = amounts(bytes="2GB", latency_s="5us", bandwidth="900GB/s", parameters="7e9", comm_s=None)
    assert read == {
        "bytes": 2e9, "latency_s": pytest.approx(5e-6), "bandwidth": 9e11, "parameters": 7e9, "comm_s": None,
    }  # fmt: skip


def test_rates_and_times_whose_names_do_not_end_with_a_unit_have_one():
    read = amounts(peak="312TFLOP/s", reported="322 TFLOPS", seconds="2ms", busbw="480GB/s")
    assert read == {"peak": 312e12, "reported": 322e12, "seconds": pytest.approx(2e-3), "busbw": 480e9}


def test_a_list_has_commas_and_may_be_left_out():
    assert amount_list("times", "100ms, 0.2") == (0.1, 0.2)
    assert amount_list("times", None) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "times: an empty list; right would be numbers with commas between them"),
        ("1,,2", r"times\[1\]: '' is not a number"),
        ("1,2GB", r"times\[1\]: '2GB' is in B"),
    ],
)
def test_what_is_wrong_in_a_list_has_its_place(text, said):
    with pytest.raises(FieldError, match=said):
        amount_list("times", text)
