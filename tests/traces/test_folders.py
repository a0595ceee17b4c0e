"""Folders of traces."""

import pytest

from synperf.analysis import analyze
from synperf.errors import FieldError, FileFormatError
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


@pytest.mark.parametrize(("notes", "said"), [((), "it holds no files"), (("a", "b"), "none of its 2 files is a trace")])
def test_a_folder_without_traces_is_refused_in_one_sentence(tmp_path, notes, said):
    for name in notes:
        (tmp_path / name).write_text("text")
    with pytest.raises(FileFormatError, match=said):
        analyze(tmp_path)
