"""`synperf explain`."""

import json
from dataclasses import fields
from xml.etree import ElementTree

import numpy as np
import pytest

import synperf
from synperf.kernels import families
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


def test_the_parts_are_analytical_and_the_estimate_says_how_far_it_is_from_them():
    origins = ("learned", "analytical")
    learned, analytical = (json.loads(invoke(*ARGUMENTS, "--json", "--origin", name).out) for name in origins)
    assert learned["origin"] == "learned"
    assert learned["analytical_s"] == analytical["analytical_s"] == analytical["time_s"]
    assert learned["pipes"] == analytical["pipes"]
    factor = learned["time_s"] / learned["analytical_s"]
    assert f"the estimate is {factor:.3g} times that" in invoke(*ARGUMENTS).out
    assert "times that" not in invoke(*ARGUMENTS, "--origin", "analytical").out


def test_a_measured_time_is_set_against_what_the_gpu_could_do():
    seen = invoke(*ARGUMENTS, "--took", "200us")
    assert "measured 200 µs: 687 TFLOP/s, 69.5 % of the bf16 peak" in seen.out  # 2 x 4096**3 / 200 us; 989 TFLOP/s
    assert "math bounds it; the other rate (503 GB/s" in seen.out
    found = json.loads(invoke(*ARGUMENTS, "--took", "200us", "--json").out)["achieved"]
    assert (found["bound"], found["took_s"]) == ("math", pytest.approx(200e-6))
    assert found["flop_per_s"] == pytest.approx(2 * 4096**3 / 200e-6)


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
        (("--origin", "learnt"), "origin: no estimator named 'learnt'; nearest: learned"),
        (("--svg", "none/x.svg"), "svg: no folder 'none'; make it first"),
        (("--took", "soon"), "took: 'soon' is not a number"),
        (("--took", "5GB"), "took: '5GB' is in B"),
        (("--took", "0s"), "took: must be a positive time"),
        (("dtype=nvfp4",), "dtype: H100 SXM has no nvfp4 math"),
    ],
)
def test_bad_input_is_one_line(options, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = invoke(*ARGUMENTS, *options)
    assert_refused(seen)
    assert seen.err.startswith(f"synperf: {said}")
    assert list(tmp_path.iterdir()) == []


TILES = "compute_capability,m,n,k,tile_m,tile_n,tile_k,split_k\n9.0,4096,4096,4096,128,128,64,1\n"


def test_a_profile_of_recorded_launches_gives_the_tile(tmp_path):
    path = tmp_path / "tiles.csv"
    path.write_text(TILES)
    for command in ("explain", "predict"):
        document = json.loads(invoke(command, *ARGUMENTS[1:], "--tile-profile", str(path), "--json").out)
        assert document["assumptions"][-1] == "tile: nearest recorded launch of tiles.csv, compute capability 9.0"
    tile = json.loads(invoke(*ARGUMENTS, "--tile-profile", str(path), "--json").out)["tile"]
    assert (tile["tile_n"], tile["source"]) == (128, "recorded")


def test_a_profile_that_is_none_is_told(tmp_path):
    path = tmp_path / "tiles.csv"
    assert_refused(invoke(*ARGUMENTS, "--tile-profile", str(path)))
    path.write_bytes(b"\x00\xff")
    assert_refused(invoke(*ARGUMENTS, "--tile-profile", str(path)))


@pytest.mark.parametrize("option", ["gpu", "tile-profile"])
def test_the_drawing_may_not_replace_what_it_is_made_from(tmp_path, option):
    path = tmp_path / "mine.toml"
    path.write_text("anything")
    others = ("explain", "gemm", "m=1", "n=1", "k=1", *(() if option == "gpu" else ("--gpu", "h100_sxm")))
    seen = invoke(*others, f"--{option}", str(path), "--svg", str(tmp_path / "." / "mine.toml"))
    assert_refused(seen)
    assert seen.err.endswith(f"is the file of --{option} itself; name another\n")
    assert path.read_text() == "anything"


@pytest.mark.parametrize("gpu", ["h100_sxm", "mi300x"])
@pytest.mark.parametrize("family", sorted(families()))
def test_the_example_of_every_family_is_explained(family, gpu):
    call = families()[family].example
    given = [(f.name, getattr(call, f.name)) for f in fields(call) if getattr(call, f.name) is not None]
    words = [f"{name}={','.join(map(str, value)) if np.ndim(value) else value}" for name, value in given]
    for options in ((), ("--json",)):
        seen = invoke("explain", family, *words, "--gpu", gpu, *options)
        assert (seen.code, seen.err) == (0, ""), words
