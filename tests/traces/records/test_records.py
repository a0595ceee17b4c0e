"""Records are found by content, whatever the name of the file, and a log may hold several."""

import gzip

import pytest

from synperf.errors import FileFormatError
from synperf.traces.records import formats, read_records, recognised
from tests.traces.records.samples import DEEPSPEED, LONG, MEGATRON, SUMMARY, TITAN, WIDE
from tests.traces.records.samples import LOG as NCCL
from tests.traces.records.test_memory_timeline import ROWS
from tests.traces.records.test_nccl_tests import NEW as NCCL_TESTS

TEXTS = {
    "memory_timeline": [ROWS],
    "nccl_debug": [NCCL],
    "nccl_tests": [NCCL_TESTS],
    "ncu_csv": [LONG, SUMMARY, WIDE],
    "training_log": [DEEPSPEED, MEGATRON, TITAN],
}
ALL = [(name, text) for name, texts in TEXTS.items() for text in texts]


def test_every_format_is_tested_here():
    assert formats() == tuple(sorted(TEXTS))


@pytest.mark.parametrize(("name", "text"), ALL)
@pytest.mark.parametrize("packed", [False, True])
def test_each_is_found_by_its_content_and_no_other(tmp_path, name, text, packed):
    path = tmp_path / "any.bin"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert recognised(path) == (name,)
    assert len(read_records(path)) == 1


def test_a_mark_far_into_a_log_is_found(tmp_path):
    path = tmp_path / "log"
    path.write_text("building the model ...\n" * 300_000 + MEGATRON)
    assert recognised(path) == ("training_log",)


def test_a_log_with_two_kinds_of_lines_gives_two_results(tmp_path):
    (tmp_path / "log").write_text(NCCL + MEGATRON)
    assert [type(one).__name__ for one in read_records(tmp_path / "log")] == ["NcclDebug", "TrainingLog"]


@pytest.mark.parametrize("data", [b"", b"hello\n", b"\0\1\2", b"[]", b'{"a": 1}', b"[[1, 2]]"])
def test_anything_else_is_refused_in_one_sentence(tmp_path, data):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(FileFormatError, match=r"^[^\n]*it (is|has)[^\n]*; read are memory_timeline, nccl_debug"):
        read_records(tmp_path / "file")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="is a folder"):
        read_records(tmp_path)


@pytest.mark.parametrize("text", [text for _, text in ALL])
def test_cut_and_scrambled_texts_give_a_result_or_one_sentence(tmp_path, text):
    path = tmp_path / "file"
    refused = []
    for place in range(0, len(text), max(1, len(text) // 40)):
        for mutant in (text[:place], text[place:], text[:place] + '\ufffd,]"' + text[place + 3 :]):
            path.write_text(mutant, encoding="utf-8")
            try:
                read_records(path)
            except FileFormatError as error:
                refused.append(str(error))
    assert not any("\n" in sentence for sentence in refused)
