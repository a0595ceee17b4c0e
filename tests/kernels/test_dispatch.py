"""What a refusal of an engine or a kernel suggests works with the other fields of the call."""

from dataclasses import fields, replace

import pytest

import synperf
from synperf.errors import PerfError
from synperf.kernels import families

GPUS = ("h100_sxm", "a100_sxm", "l40s", "b200_sxm", "v100", "mi300x", "b60")
FAMILIES = sorted(families())


def suggestions(error):
    """The names that a message gives as right, or as known or near."""
    text = str(error)
    for mark in ("right would be ", "known: ", "nearest: "):
        if mark in text:
            return text.rpartition(mark)[2].split(", ")
    return []


def refusals(call, gpu, field, names):
    """(call, error) of every name that the field may not have on this GPU."""
    for name in names:
        asked = replace(call, **{field: name})
        try:
            synperf.predict(asked, gpu, origin="analytical")
        except PerfError as error:
            if str(error).startswith(f"{field}: "):
                yield asked, error


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("gpu", GPUS)
def test_what_is_suggested_is_taken(family, gpu):
    kind, device = families()[family], synperf.gpu(gpu)
    formats = [dtype for dtype in ("bf16", "fp8", "fp32") if dtype in device.dtypes()]
    for dtype in formats if "dtype" in {f.name for f in fields(kind.call_type)} else ():
        try:
            call = replace(kind.example, dtype=dtype)
        except PerfError:
            continue
        for field, names in (("engine", ("none", "flashinfer", "trtllm")), ("kernel", ("none", "cublas", "deepgemm"))):
            for asked, error in refusals(call, device, field, names):
                for name in suggestions(error):
                    synperf.predict(replace(asked, **{field: name}), device, origin="analytical")
