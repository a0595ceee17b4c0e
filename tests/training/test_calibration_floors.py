"""Formats without weights: a launch floor is all that rows can correct, and each format says what became of it."""

from dataclasses import replace

import numpy as np
import pytest

from synperf import hardware
from synperf.errors import UnsupportedError
from synperf.estimators import analytical, calibrated
from synperf.estimators.analytical import slowest
from synperf.features import features, working
from synperf.kernels import families, family
from synperf.measurements import Rows, read_file
from synperf.training.calibrate import fit_calibration
from synperf.training.hardware_fits import LITTLE_WORK_S

from .calibration_rows import H100, WEIGHTS, blank, rows

GEMM = family("gemm")


def plain(dtype, extents=range(2048, 4096, 64), added_s=0.0):
    """Square rows of a format without weights, `added_s` longer than the analytical estimate says."""
    size = np.array(extents)
    found = blank(size, size, size, dtype=dtype)
    return replace(found, time_s=analytical.estimate(GEMM, found.call(), H100).time_s + added_s)


@pytest.mark.parametrize("dtype", ["fp32", "tf32"])
def test_a_format_of_which_nothing_can_be_corrected_is_refused(dtype):
    with pytest.raises(
        UnsupportedError, match=rf"^rows: nothing of gemm in {dtype} can be .* needs 3 rows .* has 0; .* weights: bf16$"
    ):
        fit_calibration(plain(dtype, added_s=1e-4), H100, WEIGHTS)


def test_beside_rows_with_weights_a_format_without_says_that_nothing_was_done():
    both = Rows.join([rows(60, factor=lambda _: 1.4, noise=0.03), plain("fp32", added_s=1e-4)])
    found = fit_calibration(both, H100, WEIGHTS).file
    one = found.kernels["vllm.cublas.fp32"]
    assert one.method == "zero-shot"
    assert one.why == (
        "no weights, so a launch floor is all that rows can correct; "
        "it needs 3 rows with next to no work (under 300 ns of it), has 0"
    )
    assert one.before == one.after
    assert found.kernels["vllm.cublas.bf16"].method != "zero-shot"
    assert "cublas.fp32" not in found.hardware.launch_floor_s


def test_a_launch_floor_is_taken_where_it_is_surely_better_and_changes_no_other_format():
    little = blank(np.arange(1, 31), np.full(30, 64), np.full(30, 64), dtype="fp32")
    both = Rows.join([rows(60), replace(little, time_s=np.full(30, 9e-6))])
    found = fit_calibration(both, H100, WEIGHTS).file
    assert found.hardware.launch_floor_s["cublas.fp32"] == pytest.approx(9e-6, rel=0.05)
    assert found.hardware.launch_floor_fitted == ("cublas.fp32",)
    assert found.kernels["vllm.cublas.fp32"].method == "launch floor"
    assert found.kernels["vllm.cublas.fp32"].why.startswith(
        "no weights, so a launch floor is all that rows can correct; "
    )
    assert found.kernels["vllm.cublas.bf16"].method == "zero-shot"
    call = GEMM.call_type(m=8, n=64, k=64, dtype="fp32", engine="vllm", kernel="cublas")
    said = calibrated.estimate(GEMM, call, H100, found, WEIGHTS).assumptions[-1]
    assert said.endswith(": launch floor 8.92 µs; from 30 rows of cublas fp32 in vllm")


@pytest.mark.parametrize("name", ["copy", "layernorm", "reduction", "rmsnorm", "silu_mul", "softmax"])
@pytest.mark.parametrize("gpu", ["a100_sxm", "h100_sxm"])
def test_what_a_launch_of_one_short_row_waits_is_not_work(gpu, name, tmp_path):
    one, kind = hardware.gpu(gpu), family(name)
    calls = [kind.call_type(rows=many, dim=dim) for many in (1, 2, 4, 8, 16, 32) for dim in (8, 32, 128)]
    lines = ["family,rows,dim,dtype,time_us"]
    for call in calls:
        time_s = analytical.estimate(kind, call, one).time_s
        lines.append(f"{name},{call.rows},{call.dim},bf16,{1e6 * time_s + 2.0}")
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    (own,) = fit_calibration(read_file(tmp_path / "rows.csv", name, gpu=one), one).file.kernels.values()
    assert own.method == "launch floor"
    assert "is the median of 18 rows" in own.why


MEMORY_BOUND = [kind for kind in families().values() if kind.is_memory_bound]


@pytest.mark.parametrize("kind", MEMORY_BOUND, ids=lambda kind: kind.name)
def test_the_shortest_call_of_every_memory_bound_family_has_next_to_no_work_on_every_gpu(kind):
    least = dict.fromkeys(("rows", "elements"), 1) | dict.fromkeys(("dim", "vocab"), 8)
    call = replace(kind.example, **{name: size for name, size in least.items() if hasattr(kind.example, name)})
    for gpu in hardware.gpus():
        assert slowest(working(features(kind, call, gpu)), 0.0)[1] < LITTLE_WORK_S
