"""docs/own_kernel.md runs as it is written: files, commands, outputs and Python, from top to bottom in one folder."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the page trains, which needs the extra [train]")

from ..cli.runner import invoke

PAGE = Path(__file__).parents[2] / "docs" / "own_kernel.md"
BLOCK = re.compile(r"(?:^`(\w+\.py)`:\n\n)?^```(python|sh|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def run(command):
    """What a line of the page prints; a script of the page runs in this process too."""
    program, *arguments = shlex.split(command)
    if program == "python":
        runpy.run_path(*arguments)
        return "", ""
    assert program == "synperf"
    seen = invoke(*arguments)
    assert seen.code == 0, seen
    return seen.out, seen.err


@pytest.mark.usefixtures("own_families")
def test_the_page_runs_as_it_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen, last = {}, ""
    for file, kind, body in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if file:
            Path(file).write_text(body)
        elif kind == "python":
            exec(compile(body, str(PAGE), "exec"), {})
        elif kind == "text":
            assert body == last
        else:
            for command in body.splitlines():
                last, _ = seen[command.split()[1] + option(command)] = run(command)
    assert {"predict", "explain", "evaluate", "calibrate", "train"} < set(seen)
    says_what_the_page_says(seen)


@pytest.mark.usefixtures("own_families")
def test_the_sentence_that_the_page_quotes_is_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    file, body = next((file, body) for file, kind, body in BLOCK.findall(text) if file and kind == "python")
    line = next(n for n, line in enumerate(body.splitlines(), 1) if line.lstrip().startswith("return {"))
    Path(file).write_text(body.replace('"fma_flop"', '"flop"'))
    seen = invoke("predict", file, "rows=8", "dim=8", "--gpu", "h100_sxm")
    quoted = re.search(rf"`({re.escape(file)}:\d+: decompose: [^`]+)`", text)[1]
    assert quoted in seen.err
    assert quoted.startswith(f"{file}:{line}:")


def option(command):
    return next((f" {word}" for word in ("--calibration", "--weights") if word in command), "")


def says_what_the_page_says(seen):
    """The figures of the page that no block shows, since a date or the machine is in them."""
    row = r"own +layernorm_dropout +bf16 +100 +([\d.]+) % +([\d.]+) %"
    before, after = re.search(row, seen["calibrate"][0]).groups()
    assert (round(float(before)), round(float(after))) == (24, 18)
    assert "; analytical\n" in seen["predict --calibration"][0]
    assert "; learned\n" in seen["predict --weights"][0]
    error = float(re.search(r"bf16: ([\d.]+) % held-out error", seen["train"][1])[1])
    assert error < 6
    scored = re.search(r"^h100_sxm +100 +([\d.]+) %", seen["evaluate"][0], re.MULTILINE)
    assert scored[1] == before
