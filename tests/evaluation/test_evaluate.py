"""Reports on rows whose errors are known."""

import json
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from synperf import Gemm, hardware, predict
from synperf.errors import FieldError
from synperf.evaluation import evaluate
from synperf.evaluation.evaluate import score
from synperf.features import roofline
from synperf.hardware import Calibration
from synperf.kernels import gemm
from synperf.measurements import Rows, aiconfigurator

from ..toys import TOY

GPU = replace(TOY, calibration=Calibration(launch_floor_s={"cublas.bf16": 2e-6}))
A100 = hardware.gpu("a100_sxm")
M = np.array([64.0, 1024.0, 4096.0, 8192.0])


def rows(factor, engine="vllm", gpu=GPU):
    """Four GEMMs that took `factor` times what the analytical estimate says; the last two are test rows."""
    size, call = len(M), Gemm(m=M, n=512, k=512, engine=engine)
    label = {"gpu": gpu.key, "family": "gemm", "engine": engine, "version": "1", "kernel": "cublas"}
    same = {name: np.full(size, value) for name, value in {"n": 512, "k": 512, "batch": 1}.items()}
    return Rows(
        fields={"m": M, **same, "dtype": np.full(size, "bf16", dtype=object)},
        time_s=predict(call, gpu, origin="analytical").time_s * factor,
        spread=np.zeros(size),
        samples=np.ones(size, dtype=np.int64),
        is_test=np.array([False, False, True, True]),
        kernel_source=np.full(size, "x", dtype=object),
        source=np.full(size, "f", dtype=object),
        **{name: np.full(size, value, dtype=object) for name, value in label.items()},
    )


def report(*parts):
    devices = {str(part.gpu[0]): GPU for part in parts}
    return score(parts, devices, family="gemm", origin="analytical", source="toy rows")


def test_rows_that_are_the_estimate_have_no_error():
    total = report(rows(1.0)).totals()[0]
    assert (total.estimate.mape, total.estimate.bias, total.coverage, total.below_floor) == (0, 0, 1, 0)


def test_rows_twice_as_slow_are_estimated_half_too_fast():
    total = report(rows(2.0)).totals()[0]
    assert total.estimate.bias == pytest.approx(-0.5)
    assert total.estimate.mape == pytest.approx(0.5)


def test_rows_faster_than_physics_are_counted():
    total = report(rows(1e-4)).totals()[0]
    assert (total.below_floor, total.coverage) == (1, 0)


def test_the_roofline_beside_it_has_no_launch_floor():
    part = rows(1.0)
    call = part.call()
    bare = roofline(GPU, call.dtype, gemm.flop(call), gemm.compulsory_bytes(call))
    expected = np.abs(bare / part.time_s - 1).mean()
    assert report(part).totals()[0].roofline.mape == pytest.approx(expected)


def test_scores_are_per_kernel_then_per_gpu_then_overall():
    both = Rows.join([rows(1.0, "vllm"), rows(2.0, "sglang")])
    found = [(s.gpu, s.engine, s.rows) for s in report(both).scores if s.split == "all"]
    by_format, total = ("all", "all", 8), ("all", "all", 8)
    assert found == [("toy", "sglang", 4), ("toy", "vllm", 4), ("toy", "all", 8), by_format, total]


def test_a_format_is_pooled_over_gpus_and_is_no_total():
    found = report(Rows.join([rows(1.0, "vllm"), rows(2.0, "sglang")]))
    assert [(s.gpu, s.dtype, s.rows) for s in found.by_dtype()] == [("all", "bf16", 8)]
    assert [(s.gpu, s.dtype) for s in found.totals()] == [("toy", "all"), ("all", "all")]


def test_the_test_rows_are_scored_apart():
    part = rows(1.0)
    part.time_s[2:] *= 2
    found = report(part)
    assert found.totals("test")[0].rows == 2
    assert found.totals("test")[0].estimate.bias == pytest.approx(-0.5)
    assert found.totals("all")[0].estimate.bias == pytest.approx(-0.25)


def test_without_test_rows_there_is_no_score_of_them():
    part = rows(1.0).take(slice(0, 2))
    assert [s.split for s in report(part).scores] == ["all"] * 4


def test_of_one_split_only_its_scores_are_left():
    assert {s.split for s in report(rows(1.0)).of_split("test").scores} == {"test"}
    with pytest.raises(FieldError, match="rows: none are test rows"):
        report(rows(1.0).take(slice(0, 2))).of_split("test")


def test_the_width_is_half_the_interval_over_the_estimate():
    part = rows(2.0)
    estimate = predict(part.call(), GPU, origin="analytical")
    width = float(np.median((estimate.high_s - estimate.low_s) / 2 / estimate.time_s))
    total = report(part).totals()[0]
    assert (total.width, total.width_over_median) == pytest.approx((width, width / 0.5))


def test_without_an_error_a_width_is_over_nothing():
    assert report(rows(1.0)).totals()[0].width_over_median is None


def test_biased_rows_and_other_formats_are_not_scored():
    part = rows(1.0, gpu=A100)
    biased = replace(part, biased=np.array([True, False, False, False]))
    found = evaluate("gemm", "analytical", rows=[biased], dtypes=["bf16"], source="toy rows")
    assert (found.totals()[0].rows, found.source) == (3, "toy rows")
    with pytest.raises(FieldError, match="nothing was measured"):
        evaluate("gemm", "analytical", rows=[biased], dtypes=["fp16"])


def test_a_report_is_json():
    document = json.loads(json.dumps(report(rows(2.0)).to_dict(), allow_nan=False))
    assert document["scores"][0]["estimate"]["mape"] == pytest.approx(0.5)


def test_progress_is_told_after_each_gpu():
    told = []
    score([rows(1.0)], {"toy": GPU}, family="gemm", origin="analytical", source="", progress=lambda *a: told.append(a))
    assert told == [("toy", 1, 1)]


def test_an_estimator_that_does_not_exist_is_refused():
    with pytest.raises(FieldError, match="origin: no estimator named 'guess'"):
        score([rows(1.0)], {"toy": GPU}, family="gemm", origin="guess", source="")


@pytest.mark.skipif(
    find_spec("aiconfigurator_core") is None or find_spec("polars") is None, reason="needs the extra [data]"
)
def test_on_the_a100_the_estimate_is_better_than_the_roofline_and_no_row_is_below_the_floor():
    total = evaluate(gpus=["a100_sxm"]).totals("test")[0]
    assert total.estimate.mape < total.roofline.mape
    assert total.estimate.median < 0.30  # measured: 0.274
    assert total.below_floor == 0


def test_names_of_one_gpu_count_it_once(monkeypatch):
    asked = []

    def read(key, _):
        asked.append(key)
        return replace(rows(1.0), gpu=np.full(len(M), key, dtype=object))

    monkeypatch.setattr(aiconfigurator, "read", read)
    found = evaluate("gemm", gpus=["a100", "a100_sxm", "A100-SXM"])
    assert asked == ["a100_sxm"]
    assert [total.rows for total in found.totals()] == [len(M), len(M)]
