"""What is right where a kernel has no weights: the kernels that have, on this GPU."""

from dataclasses import replace

import numpy as np
import pytest

from synperf import hardware
from synperf.errors import UnsupportedError
from synperf.estimators import analytical
from synperf.kernels import family
from synperf.training.calibrate import fit_calibration
from synperf.training.calibration_kernels import answered, has_format

from .calibration_rows import H100, WEIGHTS, blank

SIZE = np.arange(2048, 4096, 64)


def plain(gpu, dtype="bf16"):
    """Square rows of the engine that has no weights."""
    found = blank(SIZE, SIZE, SIZE, engine="plain", kernel="plain", gpu=gpu.key, dtype=dtype)
    return replace(found, time_s=analytical.estimate(family("gemm"), found.call(), gpu).time_s + 1e-4)


def test_kernels_with_weights_are_named():
    assert "cublas" in answered(plain(H100), H100, WEIGHTS)
    with pytest.raises(UnsupportedError, match=r"gemm in bf16 can be .*: kernel plain has no .* here: .*kernel=cublas"):
        fit_calibration(plain(H100), H100, WEIGHTS)


def test_where_no_kernel_has_any_that_is_said():
    gpu = hardware.gpu("mi300x")
    assert answered(plain(gpu), gpu, WEIGHTS) == []
    with pytest.raises(UnsupportedError, match=r"right would be rows of another GPU: no kernel of gemm in bf16 has w"):
        fit_calibration(plain(gpu), gpu, WEIGHTS)


@pytest.mark.parametrize(("dtype", "has"), [("bf16", True), ("fp16", True), ("fp32", False)])
def test_a_format_has_weights_by_itself_or_by_what_stands_in(dtype, has):
    assert has_format(plain(H100, dtype), WEIGHTS) == has
