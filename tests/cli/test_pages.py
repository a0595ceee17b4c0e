"""docs/cli.md is what the commands say, and the commands of docs/tables.md run."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from synperf.cli import app
from synperf.cli.page import page

from .runner import invoke

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_commands_is_current():
    assert (DOCS / "cli.md").read_text(encoding="utf-8") == page()


def test_the_page_has_every_command_and_every_option_of_its_help():
    text = page()
    for name in app.names():
        part = text.split(f"\n## synperf {name}\n")[1].split("\n## ")[0]
        for flag in re.findall(r"^  (--[a-z-]+)", invoke(name, "--help").out, re.MULTILINE):
            assert flag == "--help" or f"| `{flag}" in part


def test_the_help_of_origin_says_what_measured_is_where_tables_end():
    for name in ("predict", "explain"):
        part = page().split(f"\n## synperf {name}\n")[1].split("\n## ")[0]
        assert "measured, or learned or analytical where tables do not reach" in part


@pytest.fixture
def example(tmp_path):
    text = (DOCS / "tables.md").read_text(encoding="utf-8")
    (tmp_path / "calls.csv").write_text(re.search(r"```csv\n(.*?)```", text, re.DOTALL)[1])
    return tmp_path, re.search(r"```sh\n(.*?)```", text, re.DOTALL)[1].splitlines()


def test_the_commands_on_tables_run(example):
    folder, commands = example
    assert len(commands) == 3
    for command in commands:
        ours = command.replace("synperf ", f"{shlex.quote(sys.executable)} -m synperf ")
        environment = os.environ | {"PYTHONPATH": str(DOCS.parent)}
        done = subprocess.run(
            ours, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
    assert len((folder / "out.csv").read_text().splitlines()) == 3


def test_the_error_on_tables_is_what_is_said(example, monkeypatch):
    folder, _ = example
    monkeypatch.chdir(folder)
    calls = folder / "calls.csv"
    calls.write_text(calls.read_text().replace("gemm,64,", "gemm,0,"))
    shown = re.search(r"```text\n(.*?)```", (DOCS / "tables.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    assert invoke("predict", "--calls", "calls.csv", "--gpu", "h100_sxm").err == shown
