"""What is redacted holds no name of the trace, and the same numbers."""

import json

import pytest

from synperf.analysis.finding import named
from synperf.analysis.whole import analyze_traces
from synperf.report import analysis as report
from synperf.report import perfetto
from synperf.report.redact import pseudonym, redacted
from synperf.report.trace_csv import to_csv
from synperf.report.trace_markdown import to_markdown
from synperf.report.trace_page import to_html

from ..traces.kineto_files import call, kernel, read
from .analysed import FRAME, REAL, SECRET, real, traces

WRITTEN = {
    "text": report.to_text,
    "json": lambda found: json.dumps(report.to_dict(found)),
    "html": to_html,
    "markdown": to_markdown,
    "csv": lambda found: "".join(to_csv(found).values()),
}


@pytest.mark.parametrize("write", WRITTEN)
def test_no_name_is_left_in_any_output(tmp_path, write):
    whole = analyze_traces(traces(tmp_path, 2))
    text = WRITTEN[write](redacted(whole))
    for name in ("secret", "someone", "train.py", "ampere", "ncclDev", "aten::", "with_stack"):
        assert name not in text
    assert "secret" in WRITTEN[write](whole)


def test_no_name_is_left_in_a_perfetto_trace(tmp_path):
    made = traces(tmp_path)
    perfetto.write(tmp_path / "out.json", made, redacted(analyze_traces(made)), perfetto.Part(), pseudonym)
    text = (tmp_path / "out.json").read_text()
    assert "secret" not in text
    assert pseudonym(SECRET) in text
    assert pseudonym(FRAME) in text


def numbers(value):
    """All numbers of a document, in order."""
    if isinstance(value, dict):
        value = [one for key, one in value.items() if key != "host"]
    return (
        [n for one in value for n in numbers(one)]
        if isinstance(value, list)
        else [value] * isinstance(value, int | float)
    )


@pytest.mark.parametrize("name", REAL)
def test_numbers_families_and_causes_stay(name):
    before, after = report.to_dict(real(name)), report.to_dict(redacted(real(name)))
    assert numbers(before) == numbers(after)
    assert [one["family"] for one in before["kernels"]] == [one["family"] for one in after["kernels"]]
    assert [one["cause"] for one in before["gaps"]] == [one["cause"] for one in after["gaps"]]
    assert all(one["host"] == {} for one in after["source"]["files"])


def test_a_name_has_one_pseudonym_and_steps_keep_theirs():
    assert pseudonym("a") == pseudonym("a") != pseudonym("b")
    assert (pseudonym("ProfilerStep#3"), pseudonym("")) == ("ProfilerStep#3", "")


def test_a_name_that_is_cut_off_in_a_sentence_is_lost_too(tmp_path):
    long = "secret_" + "kernel" * 20
    events = [call("cudaLaunchKernel", 0, 5, correlation=1), kernel(long, 10, 100, correlation=1)]
    whole = analyze_traces([read(tmp_path, events)])
    (reason,) = (one.reason for one in whole.checks if one.key == "cold_operators")
    assert named(long) in reason
    (hidden,) = (one.reason for one in redacted(whole).checks if one.key == "cold_operators")
    assert pseudonym(long) in hidden
    assert "secret" not in hidden


def test_sentences_lose_the_names_in_them(tmp_path):
    found = redacted(analyze_traces(traces(tmp_path)))
    (warning,) = (one.text for one in found.cautions)
    assert warning.startswith(f"{pseudonym('secret_rank0.json')}: GPU events on device 0 have no launch")
