"""Rates from few rows, and which rows to measure for them."""

from dataclasses import replace

import numpy as np
import pytest

from synperf import hardware
from synperf.errors import UnsupportedError
from synperf.features import features
from synperf.hardware import DType
from synperf.kernels import family
from synperf.kernels.gemm_call import Gemm
from synperf.training.calibration_hardware import fit_hardware
from synperf.training.calibration_plan import choose_rows, plan_csv, plan_format

from .calibration_rows import H100, blank

PLAN = np.array(choose_rows(H100)).T
SIXTEEN_BITS = (DType.BF16, DType.FP16)
OF_NVIDIA = [gpu for gpu in hardware.gpus() if gpu.maker == "nvidia"]
WITH_TENSOR_CORES = [gpu for gpu in OF_NVIDIA if any(d in gpu.tensor_flop_per_clk_per_sm for d in SIXTEEN_BITS)]
UNLEARNED = [(gpu, dtype) for gpu in hardware.gpus() for dtype in (DType.FP32, DType.TF32) if dtype in gpu.dtypes()]
UNLEARNED += [(gpu, DType.BF16) for gpu in hardware.gpus() if gpu.maker != "nvidia"]
LAUNCH_S = H100.calibration.launch_floor_s["cublas.bf16"]


def measured(clock, dram, shapes=PLAN):
    """Rows of the plan at planted shares, the last of each kind a tenth slower than it could be."""
    rows = blank(*shapes)
    f = features(family("gemm"), rows.call(), H100)
    math_s, dram_s = f.flop / H100.peak_flop_per_s(DType.BF16), f.compulsory_bytes / H100.dram_bytes_per_s
    time_s = np.where(math_s > dram_s, math_s / clock, LAUNCH_S + dram_s / dram)
    return replace(rows, time_s=time_s * np.where(np.arange(len(rows)) % 8 == 7, 1.1, 1.0))


def test_sixteen_planned_rows_tell_both_shares():
    found = fit_hardware(measured(0.6, 0.7), H100)
    assert (found.clock_share, found.dram_share) == (pytest.approx(0.6), pytest.approx(0.7, rel=1e-3))
    assert found.provenance["clock_share"] == "greatest of 8 rows"


def test_what_no_row_tells_stays_and_is_said():
    found = fit_hardware(measured(0.6, 0.7, PLAN[:, :8]), H100)
    assert (found.clock_share, found.dram_share) == (pytest.approx(0.6), H100.calibration.dram_share)
    assert found.provenance["dram_share"] == "needs 4 rows that tell it, has 0"


def test_no_share_is_beyond_what_the_gpu_can():
    found = fit_hardware(measured(3.0, 3.0), H100)
    assert found.clock_share == pytest.approx(H100.max_clock_hz / H100.clock_hz, abs=1e-4)
    assert found.dram_share == 1.0


def test_three_launches_with_next_to_no_work_tell_the_floor():
    tiny = replace(blank(np.array([1, 2, 3]), np.full(3, 64), np.full(3, 64)), time_s=np.array([5e-6, 5e-6, 50e-6]))
    found = fit_hardware(tiny, H100)
    assert found.launch_floor_s["cublas.bf16"] == pytest.approx(5e-6, rel=0.05)
    assert fit_hardware(tiny.take(slice(0, 2)), H100).launch_floor_s["cublas.bf16"] == LAUNCH_S


@pytest.mark.parametrize("gpu", WITH_TENSOR_CORES, ids=lambda gpu: gpu.key)
def test_the_plan_has_eight_shapes_of_each_kind_on_every_gpu_with_tensor_cores(gpu):
    dtype = next(d for d in SIXTEEN_BITS if d in gpu.tensor_flop_per_clk_per_sm)
    shapes = choose_rows(gpu, dtype)
    kind, ridge = family("gemm"), gpu.ridge_flop_per_byte(dtype)
    calls = [Gemm(m=m, n=n, k=k, dtype=dtype) for m, n, k in shapes]
    intensity = [kind.flop(call) / kind.compulsory_bytes(call) / ridge for call in calls]
    assert len(set(shapes)) == 16
    assert min(intensity[:8]) >= 4
    assert max(intensity[8:]) <= 0.25 * 1.05
    assert all(kind.compulsory_bytes(call) >= 4 * gpu.l2_bytes for call in calls[8:])


def test_the_plan_is_a_table_with_empty_times():
    head, *lines = plan_csv(H100).splitlines()
    assert head == "family,m,n,k,dtype,time_us"
    assert len(lines) == 16
    assert all(line.startswith("gemm,") and line.endswith(",bf16,") for line in lines)


@pytest.mark.parametrize(("gpu", "dtype"), UNLEARNED, ids=lambda x: getattr(x, "key", x))
def test_the_plan_of_a_format_without_weights_is_launches_that_tell_its_floor(gpu, dtype):
    shapes = choose_rows(gpu, dtype)
    assert len(set(shapes)) == 16
    engine, kernel = ("vllm", "cublas") if gpu.maker == "nvidia" else ("plain", "plain")
    rows = blank(*np.array(shapes).T, gpu=gpu.key, dtype=dtype.value, engine=engine, kernel=kernel)
    assert fit_hardware(rows, gpu).provenance[f"{kernel}.{dtype}"] == "median of 16 rows"


def test_a_format_without_weights_of_which_no_launch_has_so_little_work_has_no_plan():
    slow = replace(H100, clock_hz=1e6)
    with pytest.raises(
        UnsupportedError, match=r"^dtype: fp32 has no weights, and too few .*; right would be --dtype bf16$"
    ):
        choose_rows(slow, DType.FP32)


def test_a_format_that_the_gpu_lacks_has_no_plan():
    with pytest.raises(UnsupportedError):
        choose_rows(hardware.gpu("a100_sxm"), DType.FP8)


def test_the_format_of_the_plan_is_the_most_used_one_that_the_gpu_has():
    found = {gpu.key: plan_format(gpu) for gpu in hardware.gpus()}
    assert (found["h100_sxm"], found["v100_sxm"], found["t4"]) == (DType.BF16, DType.FP16, DType.FP16)
    for gpu in hardware.gpus():
        assert len(choose_rows(gpu, found[gpu.key])) == 16
    with pytest.raises(UnsupportedError, match=r"no bf16 math; it has fp32, fp16, int8; right would be --dtype fp16$"):
        plan_format(hardware.gpu("v100_sxm"), DType.BF16)
