"""What is no timeline, as `synperf analyze` shows it."""

import json

import pytest

from synperf.analysis.recorded import analyze_records, are_recorded
from synperf.errors import FieldError, FileFormatError
from synperf.report.jsonout import to_json
from synperf.report.records import to_dict, to_text
from synperf.traces import read_trace

from ..traces.records.samples import DEEPSPEED, LOG, LONG, MEGATRON, SUMMARY, TITAN, WIDE
from ..traces.records.test_memory_timeline import ROWS
from ..traces.records.test_nccl_tests import NEW

ALL = [ROWS, LOG, NEW, LONG, SUMMARY, WIDE, DEEPSPEED, MEGATRON, TITAN]


def results(tmp_path, text):
    (tmp_path / "a").write_text(text)
    return analyze_records([tmp_path / "a"])


def test_a_training_log_is_shown_with_medians_and_iterations(tmp_path):
    assert to_text(results(tmp_path, MEGATRON)) == (
        "a: Megatron, 3 iterations of 3\n\n"
        "median time             5.12 s\n"
        "median FLOP/s of a GPU  410 TFLOP/s\n"
        "median tokens/s         205 k\n"
        "peak memory             2.1 GB\n\n"
        "iteration    time  FLOP/s of a GPU  tokens/s\n"
        "1             9 s      200 TFLOP/s     117 k\n"
        "2          5.12 s      410 TFLOP/s     205 k\n"
        "3             5 s      420 TFLOP/s     210 k"
    )


def test_a_memory_timeline_is_shown_with_the_holders_of_its_peak(tmp_path):
    assert to_text(results(tmp_path, ROWS)) == (
        "a: memory timeline of torch, 6 changes\n\n"
        "peak        170 B\n"
        "at the end  120 B\n\n"
        "category    at the peak   share  own peak\n"
        "parameter         100 B  58.8 %     100 B\n"
        "gradient           50 B  29.4 %      50 B\n"
        "temporary          20 B  11.8 %      20 B\n"
        "activation          0 B     0 %      50 B"
    )


def test_a_log_of_nccl_tests_is_shown_by_size(tmp_path):
    text = to_text(results(tmp_path, NEW))
    assert text.startswith("a: nccl-tests 2.17.1, all_reduce, 2 x NVIDIA H100 80GB HBM3")
    assert "2.1 MB  80 µs  26.2 GB/s  26.2 GB/s     81 µs       25.9 GB/s" in text


def test_counters_are_shown_with_what_they_lack(tmp_path):
    text = to_text(results(tmp_path, LONG))
    assert "could not look\n  speed: right would be --section SpeedOfLight" in text
    assert "secret-host" not in text


def test_nccl_is_shown_with_its_choices_and_its_warnings(tmp_path):
    text = to_text(results(tmp_path, LOG))
    assert "links          2 P2P/CUMEM/read, 1 NET/IB/GDRDMA" in text
    assert "AllReduce       8 B  tree       ll            1" in text
    assert "warnings\n  ranks began and did not complete: they hung, or the log ends early (1, 50 %)" in text


@pytest.mark.parametrize("text", ALL)
def test_every_result_is_text_and_json(tmp_path, text):
    found = results(tmp_path, text)
    document = json.loads(to_json(to_dict(found)))
    assert document["records"][0]["source"] == "a"
    assert to_text(found).startswith("a: ")


def test_timelines_and_records_are_not_mixed(tmp_path):
    (tmp_path / "log").write_text(MEGATRON)
    (tmp_path / "trace").write_text('{"traceEvents": []}')
    assert are_recorded([tmp_path / "log"])
    assert not are_recorded([tmp_path / "trace"])
    with pytest.raises(FieldError, match="log is no timeline and trace may be"):
        are_recorded([tmp_path / "trace", tmp_path / "log"])


def test_a_reader_of_timelines_says_what_the_file_is(tmp_path):
    (tmp_path / "log").write_text(MEGATRON)
    with pytest.raises(FileFormatError, match="holds training_log, which is no timeline; right would be"):
        read_trace(tmp_path / "log")
