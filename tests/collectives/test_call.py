"""Calls of collectives: what they take, and what they refuse in one sentence."""

import numpy as np
import pytest

from synperf import Collective, FieldError, parse_call


def test_numbers_are_read_as_those_of_kernels():
    call = Collective(operation="all_reduce", bytes="1024", ranks=8.0)
    assert (call.bytes, call.ranks, str(call.dtype)) == (1024, 8, "bf16")


def test_columns_have_one_length():
    with pytest.raises(FieldError, match="ranks has 3 values, but bytes has 2"):
        Collective(operation="all_reduce", bytes=np.array([1, 2]), ranks=np.array([2, 2, 4]))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"operation": "reduce", "bytes": 1, "ranks": 2}, "operation: no collective named 'reduce'; nearest: "),
        ({"operation": "all_reduce", "bytes": 0, "ranks": 2}, "bytes must be a whole number from 1 to"),
        ({"operation": "all_reduce", "bytes": 1, "ranks": 1}, "ranks must be 2 or more, got 1"),
        ({"operation": "send_recv", "bytes": 1, "ranks": 3}, "ranks must be 2 for send_recv, got 3"),
        ({"operation": "all_reduce", "bytes": 1, "ranks": 8, "nodes": 3}, "ranks must be a multiple of nodes, got 8 "),
        ({"operation": "moe_dispatch", "bytes": 1, "ranks": 8}, "topk: moe_dispatch needs experts per token"),
        ({"operation": "all_reduce", "bytes": 1, "ranks": 8, "topk": 2}, "topk: all_reduce has no experts per token"),
    ],
)  # fmt: skip
def test_what_is_refused(given, sentence):
    with pytest.raises(FieldError, match=sentence):
        Collective(**given)


def test_an_operation_is_a_family_of_calls():
    assert parse_call("all_gather", {"bytes": "8", "ranks": "4"}) == Collective(
        operation="all_gather", bytes=8, ranks=4
    )
    with pytest.raises(FieldError, match="all_gather: missing ranks"):
        parse_call("all_gather", {"bytes": "8"})
    with pytest.raises(FieldError, match="moe_combine: missing topk"):
        parse_call("moe_combine", {"bytes": "8", "ranks": "4"})
    with pytest.raises(FieldError, match="all_gather: no field named 'rank'; nearest: ranks"):
        parse_call("all_gather", {"bytes": "8", "rank": "4"})
