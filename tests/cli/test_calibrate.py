"""`synperf calibrate`: a table before and after, a file for `predict`, and one sentence for what is wrong."""

import json

import numpy as np
import pytest

from synperf.estimators import analytical, learned, weights
from synperf.hardware import gpu
from synperf.kernels import family
from synperf.kernels.gemm_call import Gemm

from ..training.calibration_rows import WEIGHTS, rows
from .runner import assert_refused, invoke


@pytest.fixture
def with_weights(monkeypatch):
    """The toy weights stand for the shipped ones."""
    from synperf.estimators import calibrated
    from synperf.training import calibrate

    for module in (weights, learned, calibrated, calibrate):
        monkeypatch.setattr(module, "shipped", lambda _: WEIGHTS)


@pytest.fixture
def measured(tmp_path):
    """A CSV of 60 rows, 1.4 times as long as the toy weights say."""
    found = rows(60, factor=lambda _: 1.4, noise=0.05)
    lines = [
        f"{m:.0f},{n:.0f},{k:.0f},vllm,cublas,{t * 1e6}"
        for m, n, k, t in zip(*(found.fields[x] for x in "mnk"), found.time_s, strict=True)
    ]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["m,n,k,engine,kernel,time_us", *lines]))
    return path


@pytest.mark.usefixtures("with_weights")
def test_the_table_has_errors_before_and_after(measured, tmp_path):
    seen = invoke("calibrate", str(measured), "--gpu", "h100_sxm", "--out", str(tmp_path / "h100.json"))
    assert (seen.code, seen.err) == (0, "")
    line = next(line for line in seen.out.splitlines() if line.startswith("vllm"))
    assert line.split()[:3] == ["vllm", "cublas", "bf16"]
    before, after = (float(cell) for cell in line.replace("%", "").split()[4:6])
    assert after < 8 < 20 < before
    assert "from the rows" in seen.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["h100.json", "rows.csv"]


@pytest.mark.usefixtures("with_weights")
def test_json_is_one_document_and_nothing_is_written_without_out(measured, tmp_path):
    found = json.loads(invoke("calibrate", str(measured), "--gpu", "H100", "--json").out)
    assert found["gpu"] == "h100_sxm"
    assert found["kernels"][0]["mape_after"] < 0.08 < found["kernels"][0]["mape_before"]
    assert set(found["hardware"]) == {"clock_share", "dram_share", "launch_floor_s", "said"}
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]


@pytest.mark.usefixtures("with_weights")
def test_predict_uses_the_file(measured, tmp_path):
    out = str(tmp_path / "h100.json")
    invoke("calibrate", str(measured), "--gpu", "h100_sxm", "--out", out)
    call = ("gemm", "m=512", "n=512", "k=512", "engine=vllm", "--gpu", "h100_sxm", "--json")
    before = learned.estimate(family("gemm"), Gemm(m=512, n=512, k=512, engine="vllm"), gpu("h100_sxm"), WEIGHTS)
    after = json.loads(invoke("predict", *call, "--calibration", out).out)
    assert after["origin"] in ("calibrated", "learned")
    assert after["time_s"] == pytest.approx(1.4 * before.time_s, rel=0.15)
    other = ("gemm", "m=512", "n=512", "k=512", "--gpu", "l40s", "--calibration", out)
    assert_refused(invoke("predict", *other))


def test_without_weights_the_launch_floor_is_calibrated(measured, monkeypatch):
    from synperf.training import calibrate

    monkeypatch.setattr(calibrate, "shipped", lambda _: None)
    seen = invoke("calibrate", str(measured), "--gpu", "h100_sxm")
    assert seen.code == 0
    assert "no weights: the analytical estimate" in seen.out


def test_the_plan_is_csv_that_is_read_back_when_filled_in(tmp_path):
    seen = invoke("calibrate", "--plan", "--gpu", "h100_sxm")
    assert (seen.code, seen.err) == (0, "")
    head, *lines = seen.out.splitlines()
    path, device = tmp_path / "plan.csv", gpu("h100_sxm")
    shapes = np.array([line.split(",")[1:4] for line in lines], dtype=float).T
    call = Gemm(m=shapes[0], n=shapes[1], k=shapes[2])
    time_us = 1.1e6 * analytical.estimate(family("gemm"), call, device).time_s
    path.write_text("\n".join([head, *(f"{line}{t}" for line, t in zip(lines, time_us.tolist(), strict=True))]))
    done = invoke("calibrate", str(path), "--gpu", "h100_sxm")
    assert done.code == 0
    assert "clock_share: greatest of 8 rows" in done.out
    assert "dram_share: greatest of 8 rows" in done.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "rows: none given"),
        (("ROWS",), "gpu: none given"),
        (("ROWS", "--gpu", "h21"), "no GPU named 'h21'"),
        (("none.csv", "--gpu", "h100_sxm"), "none.csv"),
        (("FEW", "--gpu", "h100_sxm"), "rows: 3; right would be 16 or more"),
        (("OTHER", "--gpu", "h100_sxm"), "the rows are of l40s, not of h100_sxm"),
        (("ROWS", "--gpu", "h100_sxm", "--out", "ROWS"), "out: "),
        (("ROWS", "--gpu", "h100_sxm", "--out", "none/there.json"), "out: "),
        (("ROWS", "--gpu", "h100_sxm", "--plan"), "rows: it does not go with --plan"),
        (("--gpu", "h100_sxm", "--plan", "--json"), "json: it does not go with --plan"),
        (("--gpu", "h100_sxm", "--plan", "--dtype", "fp9"), "dtype"),
        (("ROWS", "--gpu", "h100_sxm", "--engine", "ollama", "--seed", "x"), "seed"),
    ],
)
def test_bad_input_is_one_sentence(measured, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    few = "\n".join(["m,n,k,time_us", *(f"64,64,{k},9" for k in (64, 65, 66))])
    other = "\n".join(["m,n,k,gpu,time_us", *(f"512,512,{512 + k},l40s,9" for k in range(20))])
    files = {"ROWS": str(measured), "FEW": "few.csv", "OTHER": "other.csv"}
    (tmp_path / "few.csv").write_text(few)
    (tmp_path / "other.csv").write_text(other)
    before = sorted(path.name for path in tmp_path.iterdir())
    seen = invoke("calibrate", *(files.get(one, one) for one in arguments))
    assert_refused(seen)
    assert words in seen.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_place_that_takes_no_file_is_told_before_anything_is_fitted(measured, full_disk, monkeypatch):
    from synperf.training import calibrate

    monkeypatch.setattr(calibrate, "fit_calibration", lambda *_, **__: pytest.fail("fitted"))
    folder = str(measured.parent)
    said = {
        f"{folder}/none/x.json": "no folder",
        f"{folder}/x.json": f"nothing can be written into the folder {folder!r}",
    }
    for out, words in said.items():
        seen = invoke("calibrate", str(measured), "--gpu", "h100_sxm", "--out", out)
        assert_refused(seen)
        assert f"out: {words}" in seen.err
    assert full_disk in seen.err
