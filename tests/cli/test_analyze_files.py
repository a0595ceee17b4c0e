"""The files that `synperf analyze` writes: all of them whole, or none."""

import json
from pathlib import Path

import pytest

from ..report.analysed import events
from ..traces.kineto_files import kernel, write
from .runner import assert_refused, invoke


@pytest.fixture
def trace(tmp_path):
    return write(tmp_path, events(), "trace.json")


def made(folder):
    """Names of what is in a folder."""
    return sorted(one.name for one in folder.iterdir())


def test_all_files_are_written_and_the_text_is_as_without(tmp_path, trace):
    places = {"html": "a.html", "markdown": "a.md", "csv": "tables", "perfetto": "p.json"}
    options = [part for key, name in places.items() for part in (f"--{key}", str(tmp_path / name))]
    seen = invoke("analyze", str(trace), *options)
    assert (seen.code, seen.err) == (0, "")
    assert seen.out == invoke("analyze", str(trace)).out
    assert made(tmp_path) == sorted([*places.values(), "trace.json"])
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "tables" / "ranks.csv").read_text().startswith("rank,device,")
    assert json.loads((tmp_path / "p.json").read_text())["traceEvents"]


def test_redact_holds_for_every_output(tmp_path, trace):
    options = ["--html", str(tmp_path / "a.html"), "--perfetto", str(tmp_path / "p.json"), "--csv", str(tmp_path / "d")]
    seen = invoke("analyze", str(trace), "--redact", "--json", *options)
    assert seen.code == 0
    texts = [one.read_text() for one in (tmp_path / "a.html", tmp_path / "p.json", *(tmp_path / "d").iterdir())]
    assert not any("secret" in text for text in [seen.out, *texts])


def test_a_slice_chooses_what_perfetto_has(tmp_path, trace):
    out = tmp_path / "p.json"
    assert invoke("analyze", str(trace), "--perfetto", str(out), "--slice", "110us..520us").code == 0
    kernels = [one for one in json.loads(out.read_text())["traceEvents"] if one.get("cat") == "kernel"]
    assert len(kernels) == 1
    assert invoke("analyze", str(trace), "--perfetto", str(out), "--slice", "..1ms", "--stream", "9").code == 0


@pytest.mark.parametrize(
    "options",
    [
        ("--slice", "1ms"), ("--slice", "5ms..1ms"), ("--slice", "a..b"), ("--slice", "1ms..2GB"),
        ("--slice", "5s..6s"), ("--rank", "7"),
    ],
)  # fmt: skip
def test_a_part_without_events_or_sense_is_refused(tmp_path, trace, options):
    assert_refused(invoke("analyze", str(trace), "--perfetto", str(tmp_path / "p.json"), *options))
    assert made(tmp_path) == ["trace.json"]


@pytest.mark.parametrize(
    "options",
    [
        ("--html", "{}/none/a.html"), ("--html", "{}/trace.json"), ("--csv", "{}/trace.json"), ("--csv", "{}"),
        ("--csv", "{}/none/d"), ("--perfetto", "{}"), ("--slice", "1ms..2ms"), ("--rank", "0"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_refused_and_nothing_is_left(tmp_path, trace, options):
    before = trace.read_bytes()
    asked = [one.format(tmp_path) for one in options]
    assert_refused(invoke("analyze", str(trace), "--markdown", str(tmp_path / "a.md"), *asked))
    assert made(tmp_path) == ["trace.json"]
    assert trace.read_bytes() == before


def test_names_cannot_steer_a_terminal(tmp_path):
    file = write(tmp_path, [kernel("red \x1b[31m\nnext", 0, 10), kernel("k", 90, 10)], "trace.json")
    (tmp_path / "a.md").touch()
    seen = invoke("analyze", str(file), "--markdown", str(tmp_path / "a.md"))
    assert seen.code == 0
    for text in (seen.out, (tmp_path / "a.md").read_text()):
        assert "\x1b" not in text
    assert r"red ?\[31m?next" in (tmp_path / "a.md").read_text()


def test_a_trace_without_events_gives_files_that_say_so(tmp_path):
    file = write(tmp_path, [], "trace.json")
    options = ["--html", str(tmp_path / "a.html"), "--perfetto", str(tmp_path / "p.json")]
    assert invoke("analyze", str(file), *options).code == 0
    assert "no GPU work" in (tmp_path / "a.html").read_text()
    assert json.loads((tmp_path / "p.json").read_text())["traceEvents"] == []


def test_an_empty_folder_takes_the_tables(tmp_path, trace):
    folder = tmp_path / "tables"
    folder.mkdir()
    assert invoke("analyze", str(trace), "--csv", str(folder)).code == 0
    assert "kernels.csv" in made(folder)


def test_a_disk_that_is_full_leaves_nothing(tmp_path, trace, full_disk):
    seen = invoke("analyze", str(trace), "--html", str(tmp_path / "a.html"))
    assert_refused(seen)
    assert full_disk in seen.err
    assert made(tmp_path) == ["trace.json"]


def test_what_is_no_trace_leaves_no_files(tmp_path):
    nothing = Path(write(tmp_path, b"hello"))
    assert_refused(invoke("analyze", str(nothing), "--html", str(tmp_path / "a.html")))
    assert made(tmp_path) == ["trace.json"]
