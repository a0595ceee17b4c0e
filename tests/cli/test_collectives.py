"""Collectives at the command line: one message as text and JSON, and options that are for kernels."""

import json

import pytest

from .runner import invoke


def test_a_message_is_told_with_its_link_and_library():
    run = invoke("predict", "all_reduce", "bytes=1048576", "ranks=8", "--gpu", "h100_sxm")
    assert run.code == 0
    first, *_ = run.out.splitlines()
    assert first.endswith("of the published rate; limited by latency; learned")
    assert "kernel    nccl of nccl" in run.out
    assert "link: nvlink4, that of h100_sxm where none is named" in run.out


def test_json_has_the_keys_of_a_kernel():
    run = invoke("predict", "all_gather", "bytes=1e9", "ranks=4", "--gpu", "h100_sxm", "--json")
    found = json.loads(run.out)
    assert {"family", "gpu", "engine", "kernel", "time_s", "low_s", "high_s", "floor_s", "origin"} <= set(found)
    assert found["params"]["bytes"] == 1_000_000_000
    assert "operation" not in found["params"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("predict", "all_reduce", "bytes=1", "ranks=16", "--gpu", "h100_sxm"), "network: none given for 16 ranks"),
        (("predict", "all_reduce", "bytes=1", "--gpu", "h100_sxm"), "all_reduce: missing ranks"),
        (("predict", "all_reduce", "bytes=1", "ranks=8", "link=usb", "--gpu", "h100_sxm"), "no link named 'usb'"),
        (("explain", "all_reduce", "bytes=1", "ranks=8", "--gpu", "h100_sxm"), "call must be one of"),
        (("evaluate", "collective", "--recipe", "all"), "recipe: is for kernels"),
        (("evaluate", "collective", "--split", "new-shape"), "no split of collectives named 'new-shape'"),
    ],
)
def test_what_is_wrong_is_one_line(arguments, sentence):
    run = invoke(*arguments)
    assert (run.code, run.out) == (2, "")
    assert run.err.count("\n") == 1
    assert sentence in run.err
