"""The use of a calibration: origins, scalars and columns, and what is refused."""

import re
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from synperf import hardware
from synperf.errors import FieldError, FileFormatError
from synperf.estimators import analytical, calibrated, learned
from synperf.estimators.calibration_file import parse, read, render
from synperf.kernels import family
from synperf.kernels.gemm_call import Gemm
from synperf.training.calibrate import fit_calibration

from ..training.calibration_rows import H100, WEIGHTS, error, rows

GEMM = family("gemm")
CALL = Gemm(m=1000, n=2048, k=512, engine="vllm", kernel="cublas")


@pytest.fixture(scope="module")
def found():
    """A correction for vLLM's cuBLAS: half as long again, and more for larger m."""
    factor = lambda r: 1.2 * (r.fields["m"] / 64) ** 0.1  # noqa: E731
    return fit_calibration(rows(120, factor=factor, noise=0.05), H100, WEIGHTS).file


def estimate(call, found, gpu=H100, weights=WEIGHTS):
    return calibrated.estimate(GEMM, call, gpu, found, weights)


def test_a_kernel_with_a_residual_part_is_calibrated_and_says_so(found):
    one = estimate(CALL, found)
    assert one.origin == "calibrated"
    assert one.time_s > 1.1 * learned.estimate(GEMM, CALL, H100, WEIGHTS).time_s
    assert any("120 rows of cublas bf16 in vllm" in sentence for sentence in one.assumptions)
    assert one.versions["calibration"] == found.date
    assert one.floor_s < one.low_s < one.time_s < one.high_s


L40 = hardware.gpu("l40")  # nobody measured it: its launch floors are borrowed, its rates typical


@pytest.fixture(scope="module")
def unseen():
    """Rows of a GPU without a record, in which only the rates differ."""
    slow = replace(L40, calibration=replace(L40.calibration, clock_share=0.55, dram_share=0.6))
    one = rows(60, gpu=slow, noise=0.01)
    return fit_calibration(replace(one, gpu=np.full(60, "l40", dtype=object)), L40, WEIGHTS).file


def test_what_a_calibration_replaces_is_no_longer_assumed(unseen):
    before = learned.estimate(GEMM, CALL, L40, WEIGHTS)
    after = estimate(CALL, unseen, L40)
    assert {said.partition(":")[0] for said in before.assumptions} >= {"sustained rates", "learned"}
    assert unseen.hardware.said["how"].startswith("tuned: ")
    assert not any(said.startswith(("sustained rates", "learned")) for said in after.assumptions)
    assert "gpu" in before.outside
    assert "gpu" not in after.outside
    share = f"clock_share {unseen.hardware.clock_share:.3g}"
    assert share in after.assumptions[-1]
    assert after.assumptions[-1].endswith("from 60 rows of cublas bf16 in vllm")


def test_an_engine_without_rows_still_says_that_it_was_not_measured(unseen):
    one = estimate(replace(CALL, engine="trtllm"), unseen, L40)
    assert any(said.startswith("learned: not measured on this GPU") for said in one.assumptions)
    assert one.assumptions[-1].endswith("no row of cublas bf16 in trtllm")


def test_a_borrowed_launch_floor_is_named_where_it_was_not_fitted(found):
    fitted = msgspec.structs.replace(
        found.hardware, launch_floor_from="l40s", launch_floor_fitted=("cublas.bf16",),
        launch_floor_s={"cublas.bf16": 5e-6, "cublas.fp32": 2e-6},
    )  # fmt: skip
    own, other = (
        estimate(replace(CALL, dtype=dtype), msgspec.structs.replace(found, hardware=fitted)).assumptions
        for dtype in (CALL.dtype, hardware.DType.FP32)
    )
    borrowed = "launch floor: measured on l40s"
    assert borrowed not in own
    assert borrowed in other


def test_a_calibration_that_changed_nothing_says_so():
    kept = fit_calibration(rows(), H100, WEIGHTS).file
    assert kept.kernels["vllm.cublas.bf16"].method == "zero-shot"
    one = estimate(CALL, kept)
    assert one.assumptions[-1].endswith(": changed nothing; from 100 rows of cublas bf16 in vllm")
    assert one.assumptions[:-1] == learned.estimate(GEMM, CALL, H100, WEIGHTS).assumptions


def test_another_engine_has_the_learned_estimate_on_the_calibrated_gpu(found):
    other = replace(CALL, engine="trtllm")
    one = estimate(other, found)
    expected = learned.estimate(GEMM, other, calibrated.calibrated_gpu(H100, found), WEIGHTS)
    assert (one.origin, one.time_s) == ("learned", expected.time_s)


def test_a_format_without_weights_has_the_analytical_estimate_on_the_calibrated_gpu(found):
    other = Gemm(m=1000, n=2048, k=512, dtype="fp8")
    one = estimate(other, found)
    expected = analytical.estimate(GEMM, other, calibrated.calibrated_gpu(H100, found))
    assert (one.origin, one.time_s) == ("analytical", expected.time_s)


def test_one_call_is_the_row_of_a_column(found):
    m = np.array([1, 100, 1000, 8192])
    column = estimate(replace(CALL, m=m), found)
    for i, size in enumerate(m.tolist()):
        one = estimate(replace(CALL, m=size), found)
        assert type(one.time_s) is float
        assert (one.time_s, one.low_s, one.high_s) == pytest.approx(
            (column.time_s[i], column.low_s[i], column.high_s[i]), rel=1e-5
        )


def test_far_from_its_rows_a_correction_is_no_greater_than_on_them(found):
    huge = Gemm(m=2**30, n=2**20, k=2**20, engine="vllm", kernel="cublas")
    ratio = estimate(huge, found).time_s / learned.estimate(GEMM, huge, H100, WEIGHTS).time_s
    assert 0.5 < ratio < 3.0


def test_a_file_on_disk_is_as_good(found, tmp_path):
    path = tmp_path / "h100.json"
    path.write_bytes(render(found))
    assert calibrated.estimate(GEMM, CALL, H100, path, WEIGHTS).time_s == estimate(CALL, found).time_s


def test_another_gpu_is_refused(found):
    with pytest.raises(
        FieldError, match=r"^calibration: it is of h100_sxm, not of l40s; right would be --gpu h100_sxm$"
    ):
        estimate(CALL, found, hardware.gpu("l40s"))


def test_other_weights_are_refused_even_where_only_rates_would_change(found):
    other = replace(WEIGHTS, card=msgspec.structs.replace(WEIGHTS.card, sha256="f" * 64))
    for call in (CALL, replace(CALL, engine="trtllm")):
        with pytest.raises(FieldError, match=r"made for the weights 0{12}, not f{12}; calibrate again$"):
            estimate(call, found, weights=other)


def test_a_residual_part_of_another_size_is_refused(found):
    pool, one = next(iter(found.residuals.items()))
    short = msgspec.structs.replace(one, hidden_weights=one.hidden_weights[:-1])
    with pytest.raises(FieldError, match="does not fit the weights"):
        estimate(CALL, msgspec.structs.replace(found, residuals={pool: short}))


@pytest.mark.parametrize("data", [b"", b"[" * 100_000, b'{"a":' * 100_000, b'"', b"\xff"])
def test_what_is_no_json_document_is_one_sentence(data):
    with pytest.raises(FileFormatError, match=r"^h100\.json: not a whole JSON document \(.*\); calibrate again$"):
        parse(data, "h100.json")


def changed(found, **fields):
    document = msgspec.json.decode(render(found)) | fields
    return msgspec.json.encode(document)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"format": 2}, "format is 2, right would be 3"),
        ({"format": None}, "right would be 3"),
        ({"format": True}, "right would be 3"),
        ({"rows": 17}, "damaged, or changed since it was written: its sha256 is of another content"),
        ({"sha256": "0" * 64}, "damaged, or changed since it was written"),
        ({"sha256": None}, "damaged, or changed since it was written"),
        ({"colour": "red"}, "colour"),
        ({"rows": "many"}, r"rows"),
        ({"residuals": {}}, "no residual part"),
    ],
)
def test_a_document_that_is_none_of_ours_is_one_sentence(found, fields, words):
    with pytest.raises(FileFormatError, match=words) as seen:
        parse(changed(found, **fields), "h100.json")
    assert str(seen.value).startswith("h100.json: ")
    assert str(seen.value).endswith("; calibrate again")


@pytest.mark.parametrize("value", [0.0, -1.0, 11.0])
def test_a_rate_out_of_range_is_refused(found, value):
    document = msgspec.to_builtins(found.hardware) | {"clock_share": value}
    with pytest.raises(FileFormatError, match=r"hardware\.clock_share"):
        parse(changed(found, hardware=document), "x")


def test_points_that_do_not_fit_are_refused(found):
    one = msgspec.to_builtins(found.residuals["cublas.bf16"])
    for broken in ({"heights": [*one["heights"], 1.0]}, {"length": 0.0}, {"low": 9.0}):
        with pytest.raises(FileFormatError, match=r"residuals\.cublas\.bf16"):
            parse(changed(found, residuals={"cublas.bf16": one | broken}), "x")


def test_absurd_values_are_refused_before_they_become_a_time(found):
    one = msgspec.to_builtins(found.residuals["cublas.bf16"])
    for broken in ({"low": 1e5, "high": 1e6}, {"high": 1e308}, {"own": -5.0}, {"shifts": {"vllm": 1e999}}):
        with pytest.raises(FileFormatError):
            parse(changed(found, residuals={"cublas.bf16": one | broken}), "x")
    key, kernel = next(iter(msgspec.to_builtins(found.kernels).items()))
    bad = {"name": "x", "up_to_s": 1.0, "rows": 9, "low": 0.2, "high": -0.2}
    for broken in ({"rows": -1}, {"regimes": [bad]}, {"regimes": [bad | {"low": -1e5}]}):
        with pytest.raises(FileFormatError, match="kernels"):
            parse(changed(found, kernels={key: kernel | broken}), "x")
    for broken in ({"family": "none"}, {"kernels": {}}):
        with pytest.raises(FileFormatError):
            parse(changed(found, **broken), "x")


def test_a_digit_that_a_disk_or_a_hand_has_changed_is_told(found):
    whole = render(found)
    digits = [match.start(1) for match in re.finditer(rb"[ -]([0-8])\b", whole)]  # the first of numbers
    for i in digits[:: max(len(digits) // 40, 1)]:
        with pytest.raises(FileFormatError):
            parse(whole[:i] + bytes([whole[i] + 1]) + whole[i + 1 :], "x")


def test_the_layout_of_a_file_does_not_count(found):
    assert parse(msgspec.json.encode(msgspec.json.decode(render(found))), "x") == found


def test_every_truncation_is_refused(found):
    whole = render(found)
    for size in (*range(0, len(whole) - 2, 997), len(whole) - 3):
        with pytest.raises(FileFormatError):
            parse(whole[:size], "x")
    assert parse(whole, "x") == found


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileFormatError, match=r"none\.json"):
        read(tmp_path / "none.json")


def test_rows_of_the_fit_are_near(found):
    new = rows(200, seed=5, factor=lambda r: 1.2 * (r.fields["m"] / 64) ** 0.1)
    assert error(estimate(new.call(), found).time_s, new.time_s) < 0.06
