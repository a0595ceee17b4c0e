"""`synperf analyze` of what is no timeline, as a user sees it."""

import json

import pytest

from ..traces.records.samples import LONG, MEGATRON
from .runner import assert_refused, invoke


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "any.name"
    path.write_text(MEGATRON)
    return str(path)


def test_a_log_is_shown_as_text_and_as_json(log):
    assert invoke("analyze", log).out.startswith("any.name: Megatron, 3 iterations of 3\n")
    (one,) = json.loads(invoke("analyze", log, "--json").out)["records"]
    assert (one["kind"], one["iterations"][1]["time_s"]) == ("TrainingLog", 5.12)


@pytest.mark.parametrize("option", ["--html", "--markdown", "--csv", "--perfetto"])
def test_files_of_timelines_are_refused(log, tmp_path, option):
    result = invoke("analyze", log, option, str(tmp_path / "new"))
    assert_refused(result)
    assert f"{option[2:]}: any.name is no timeline" in result.err
    assert not (tmp_path / "new").exists()


def test_redacting_is_refused_rather_than_ignored(log):
    assert_refused(invoke("analyze", log, "--redact"))


def test_names_do_not_reach_the_terminal_as_they_are(tmp_path):
    (tmp_path / "a").write_text(LONG.replace('"gemm"', '"ge\x1b[31mmm\x07"'))
    out = invoke("analyze", str(tmp_path / "a")).out
    assert "\ngemm?\n" in out
    assert not any(letter in out for letter in "\x1b\x07")
