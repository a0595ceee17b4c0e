"""Folders of traces."""

import os

import pytest

from synperf.analysis import analyze
from synperf.errors import FieldError, FileFormatError
from synperf.report.analysis import to_dict
from synperf.report.jsonout import to_json
from synperf.traces.folders import traces_in

from .kineto_files import kernel, write


@pytest.fixture
def job(tmp_path):
    """A folder with traces of ranks 0, 2 and 10, and a note."""
    for rank in (10, 2, 0):
        write(tmp_path, [kernel("k", rank, 5)], f"rank{rank}.json", distributedInfo={"rank": rank})
    (tmp_path / "notes.txt").write_text("of Monday")
    (tmp_path / "older").mkdir()
    return tmp_path


def test_the_traces_of_a_folder_come_by_number(job):
    found, others = traces_in(job)
    assert ([path.name for path in found], others) == (["rank0.json", "rank2.json", "rank10.json"], 1)


def test_a_folder_is_analysed_as_its_files_are(job):
    files = [job / f"rank{rank}.json" for rank in (0, 2, 10)]
    assert analyze(job).overlaps == analyze(files).overlaps
    assert [one.count for one in analyze(job).cautions if "no traces" in one.text] == [1]
    assert not any("no traces" in one.text for one in analyze(files).cautions)


def test_a_file_is_not_taken_twice_from_its_folder(job):
    with pytest.raises(FieldError, match=r"rank0\.json is given twice"):
        analyze([job, job / "rank0.json"])


def test_a_file_with_several_names_in_a_folder_is_taken_once_by_its_own(job):
    (job / "latest.json").symlink_to("rank2.json")
    (job / "also.json").hardlink_to(job / "rank10.json")
    found, others = traces_in(job)
    assert ([path.name for path in found], others) == (["also.json", "rank0.json", "rank2.json"], 1)


def test_a_file_is_not_taken_twice_by_two_names(job):
    (job / "hard.json").hardlink_to(job / "rank0.json")
    with pytest.raises(FieldError, match=r"hard\.json is given twice"):
        analyze([job / "rank0.json", job / "hard.json"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name")
def test_a_pipe_is_refused_in_a_sentence_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileFormatError, match="it is a pipe or a device"):
        analyze(tmp_path / "pipe")


@pytest.mark.parametrize("name", ["odd\udcff.json", "two\nlines\x1b[31m.json"])
def test_a_name_that_is_no_text_of_one_line_is_escaped(tmp_path, name):
    write(tmp_path, [kernel("k", 0, 5)], "plain.json")
    path = (tmp_path / "plain.json").rename(tmp_path / name)
    shown = name.encode("unicode_escape").decode()
    for cache in (None, tmp_path / "cache", tmp_path / "cache"):
        assert analyze(path, cache=cache).sources[0].file == shown
    assert shown.replace("\\", "\\\\") in to_json(to_dict(analyze(path)))


@pytest.mark.parametrize(("notes", "said"), [((), "it holds no files"), (("a", "b"), "none of its 2 files is a trace")])
def test_a_folder_without_traces_is_refused_in_one_sentence(tmp_path, notes, said):
    for name in notes:
        (tmp_path / name).write_text("text")
    with pytest.raises(FileFormatError, match=said):
        analyze(tmp_path)
