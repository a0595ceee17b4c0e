"""`synperf calibrate`: a table before and after, a file for `predict`, and one sentence for what is wrong."""

import json

import numpy as np
import pytest

from synperf.estimators import analytical, learned, weights
from synperf.hardware import gpu
from synperf.kernels import family
from synperf.kernels.attention_call import Attention
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
    assert "rates of the GPU: tuned: held-out error" in seen.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["h100.json", "rows.csv"]


@pytest.mark.usefixtures("with_weights")
def test_json_is_one_document_and_nothing_is_written_without_out(measured, tmp_path):
    found = json.loads(invoke("calibrate", str(measured), "--gpu", "H100", "--json").out)
    assert found["gpu"] == "h100_sxm"
    assert found["kernels"][0]["mape_after"] < 0.08 < found["kernels"][0]["mape_before"]
    assert set(found["hardware"]) == {"clock_share", "dram_share", "launch_floor_s", "said"}
    assert found["set_aside"] == []
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


def test_formats_of_which_nothing_can_be_corrected_are_refused_and_nothing_is_written(measured, tmp_path):
    text = measured.read_text().replace("time_us", "dtype,time_us").splitlines()
    lines = [
        text[0],
        *(",".join([*line.split(",")[:-1], "fp32", f"{9 * float(line.split(',')[-1])}"]) for line in text[1:]),
    ]
    (tmp_path / "fp32.csv").write_text("\n".join(lines))
    out = tmp_path / "h100.json"
    seen = invoke("calibrate", str(tmp_path / "fp32.csv"), "--gpu", "h100_sxm", "--out", str(out))
    assert_refused(seen)
    assert "nothing of gemm in fp32 can be corrected: no weights" in seen.err
    assert "right would be formats with weights: bf16" in seen.err
    assert not out.exists()


@pytest.mark.usefixtures("with_weights")
def test_rows_that_cannot_be_are_named_in_the_table_and_in_json(measured, tmp_path):
    (tmp_path / "odd.csv").write_text(measured.read_text() + "\n4096,4096,4096,vllm,cublas,0.2")
    seen = invoke("calibrate", str(tmp_path / "odd.csv"), "--gpu", "h100_sxm")
    assert "set aside: 1 row\n  vllm cublas m=4096 n=4096 k=4096 batch=1 dtype=bf16 in 200 ns: below its" in seen.out
    (one,) = json.loads(invoke("calibrate", str(tmp_path / "odd.csv"), "--gpu", "h100_sxm", "--json").out)["set_aside"]
    assert one["call"] == "vllm cublas m=4096 n=4096 k=4096 batch=1 dtype=bf16"
    assert one["time_s"] == pytest.approx(2e-7)


def test_rows_of_another_family_are_told_by_their_column_or_by_an_option(tmp_path):
    sizes = [(batch, kv, heads) for batch in (1, 8, 64) for kv in (512, 4096) for heads in (8, 16, 32)]
    batch, kv, heads = np.array(sizes, dtype=float).T
    call = Attention(batch=batch, q_len=1, kv_len=kv, heads=heads, kv_heads=8, head_dim=128, engine="vllm")
    time_us = learned.estimate(family("attention"), call, gpu("l40")).time_s * 1e6
    rest = [f"{b},1,{kv},{h},8,128,vllm,{t}" for (b, kv, h), t in zip(sizes, time_us.tolist(), strict=True)]
    head, named, bare = (
        "batch,q_len,kv_len,heads,kv_heads,head_dim,engine,time_us",
        tmp_path / "a.csv",
        tmp_path / "b.csv",
    )
    named.write_text("\n".join([f"family,{head}", *(f"attention,{line}" for line in rest)]))
    bare.write_text("\n".join([head, *rest]))
    for arguments in ((str(named),), (str(bare), "--family", "attention")):
        seen = invoke("calibrate", *arguments, "--gpu", "l40")
        assert (seen.code, seen.err) == (0, "")
        assert "for attention from 18 rows" in seen.out
        assert "bf16.decode" in seen.out


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
    shares = [line for line in done.out.splitlines() if line.startswith(("clock_share", "dram_share"))]
    assert all(line.endswith("greatest of 8 rows") for line in shares)
    assert len(shares) == 2


def test_the_plan_of_a_format_without_weights_is_calibrated_from_when_filled_in(tmp_path):
    head, *lines = invoke("calibrate", "--plan", "--gpu", "h100_sxm", "--dtype", "fp32").out.splitlines()
    path, out = tmp_path / "plan.csv", tmp_path / "h100.json"
    path.write_text("\n".join([head, *(f"{line}{9 + i % 3 / 10}" for i, line in enumerate(lines))]))
    done = invoke("calibrate", str(path), "--gpu", "h100_sxm", "--out", str(out))
    assert (done.code, done.err) == (0, "")
    assert next(line for line in done.out.splitlines() if line.startswith("torch")).endswith("launch floor")
    assert out.exists()


def test_the_plan_is_in_fp16_where_the_gpu_has_no_bf16_and_says_so():
    seen = invoke("calibrate", "--plan", "--gpu", "v100")
    assert seen.code == 0
    assert all(line.endswith(",fp16,") for line in seen.out.splitlines()[1:])
    assert seen.err == (
        "synperf: V100 SXM2 32GB has no bf16 math, so the shapes are in fp16; --dtype would name another format\n"
    )
    asked = invoke("calibrate", "--plan", "--gpu", "v100", "--dtype", "fp16")
    assert (asked.out, asked.err) == (seen.out, "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "rows: none given"),
        (("ROWS",), "gpu: none given"),
        (("ROWS", "--gpu", "h21"), "gpu: no GPU named 'h21'"),
        (("none.csv", "--gpu", "h100_sxm"), "none.csv"),
        (("FEW", "--gpu", "h100_sxm"), "rows: 3; right would be 16 or more"),
        (("OTHER", "--gpu", "h100_sxm"), "the rows are of l40s, not of h100_sxm"),
        (("ROWS", "--gpu", "h100_sxm", "--out", "ROWS"), "out: "),
        (("ROWS", "--gpu", "h100_sxm", "--out", "none/there.json"), "out: "),
        (("ROWS", "--gpu", "h100_sxm", "--plan"), "rows: it does not go with --plan"),
        (("--gpu", "h100_sxm", "--plan", "--json"), "json: it does not go with --plan"),
        (("--gpu", "h100_sxm", "--plan", "--family", "attention"), "family: it does not go with --plan"),
        (("ROWS", "--gpu", "h100_sxm", "--family", "gem"), "family: no kernel family named 'gem'"),
        (("--gpu", "h100_sxm", "--plan", "--dtype", "fp9"), "dtype"),
        (("--gpu", "v100", "--plan", "--dtype", "bf16"), "it has fp32, fp16, int8; right would be --dtype fp16"),
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
