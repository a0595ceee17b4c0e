"""docs/own_kernel.md runs as it is written: files, commands, outputs and Python, from top to bottom in one folder."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the page trains, which needs the extra [train]")

from ..cli.runner import invoke

PAGE = Path(__file__).parents[2] / "docs" / "own_kernel.md"
BLOCK = re.compile(
    r"(?:^`(?P<file>\w+\.py)`:\n\n)?^```(?P<kind>python|sh|text)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE
)


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
    blocks = [found.groupdict() for found in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))]
    seen = {}
    for block in blocks:
        if block["file"]:
            Path(block["file"]).write_text(block["body"])
        elif block["kind"] == "python":
            exec(compile(block["body"], str(PAGE), "exec"), {})
        elif block["kind"] == "text":
            assert block["body"] == printed[0]
        else:
            for command in block["body"].splitlines():
                printed = seen[command] = run(command)
    assert [block["kind"] for block in blocks].count("sh") == 5
    _says_what_the_page_says({command.split(" ", 2)[1] + _option(command): told for command, told in seen.items()})


def _option(command):
    return next((f" {word}" for word in ("--calibration", "--weights") if word in command), "")


def _says_what_the_page_says(seen):
    """The figures of the page that no block shows, since a date or the machine is in them."""
    before, after = re.search(
        r"own +layernorm_dropout +bf16 +100 +([\d.]+) % +([\d.]+) %", seen["calibrate"][0]
    ).groups()
    assert (round(float(before)), round(float(after))) == (24, 18)
    assert "; analytical\n" in seen["predict --calibration"][0]
    assert "; learned\n" in seen["predict --weights"][0]
    error = float(re.search(r"bf16: ([\d.]+) % held-out error", seen["train"][1])[1])
    assert error < 6
    scored = re.search(r"^h100_sxm +100 +([\d.]+) %", seen["evaluate"][0], re.MULTILINE)
    assert scored[1] == before
