"""`synperf explain`."""

import json
from xml.etree import ElementTree

import pytest

import synperf
from synperf.report import explanations

from .runner import assert_refused, invoke

ARGUMENTS = ("explain", "gemm", "m=4096", "n=4096", "k=4096", "--gpu", "h100_sxm")


def explanation():
    return synperf.explain(synperf.Gemm(m=4096, n=4096, k=4096), "h100_sxm")


def test_text_and_json_show_the_explanation():
    seen = invoke(*ARGUMENTS)
    assert (seen.code, seen.err) == (0, "")
    assert seen.out == explanations.to_text(explanation()) + "\n"
    document = json.loads(invoke(*ARGUMENTS, "--json").out)
    assert {"time_s", "params", "tiles", "tasks", "waves", "tail", "sm_max", "pipes", "occupancy"} <= document.keys()
    assert list(document["pipes"]) == ["tensor", "fma", "xu", "dram", "l2", "shared"]
    assert {"gpu_s", "sm_max_s"} <= document["pipes"]["tensor"].keys()


def test_svg_is_written_beside_the_text(tmp_path):
    seen = invoke(*ARGUMENTS, "--svg", str(tmp_path / "waves.svg"))
    assert (seen.code, seen.out) == (0, explanations.to_text(explanation()) + "\n")
    text = (tmp_path / "waves.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert "gemm m=4096 n=4096 k=4096 bf16 on H100 SXM" in text
    assert [path.name for path in tmp_path.iterdir()] == ["waves.svg"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--origin", "learned"), "origin: an explanation is analytical"),
        (("--svg", "none/x.svg"), "svg: no folder 'none'; make it first"),
        (("dtype=nvfp4",), "dtype: H100 SXM has no nvfp4 math"),
    ],
)
def test_bad_input_is_one_line(options, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = invoke(*ARGUMENTS, *options)
    assert_refused(seen)
    assert seen.err.startswith(f"synperf: {said}")
    assert list(tmp_path.iterdir()) == []
